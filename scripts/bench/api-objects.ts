/** The API's side of a bench's node: objects of the size that real ones have. */
import { CONDITIONS, MANAGED_FIELDS, POD_SPEC } from '../../test/helpers/big-cluster/objects.ts'
import { podUid } from './layout.ts'

export const NODE_NAME = 'bench-node'
export const MACHINE_ID = 'b0c1d2e3f4a5968778695a4b3c2d1e0f'

export interface ApiObject {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly uid?: string }
}

/** RFC 3339, in whole seconds. */
function timeText(hoursAgo = 0): string {
  return new Date(Date.now() - hoursAgo * 3_600_000).toISOString().replace(/\.\d+/, '')
}

/** The node and its lease: the kubelet has been stopped long enough (S11). */
export function nodeObjects(): ApiObject[] {
  const anHourAgo = timeText(1)
  const node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: NODE_NAME,
      uid: '30000000-0000-4000-8000-000000000000',
      annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' },
    },
    status: {
      nodeInfo: { machineID: MACHINE_ID, systemUUID: MACHINE_ID, bootID: MACHINE_ID },
      conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: anHourAgo, lastTransitionTime: anHourAgo }],
      volumesAttached: [],
      volumesInUse: [],
    },
  }
  const lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: NODE_NAME, namespace: 'kube-node-lease' },
    spec: { holderIdentity: NODE_NAME, renewTime: anHourAgo },
  }
  return [node, lease]
}

/** A pod that runs on the node, as large as one of a Deployment. @param volumes of its spec */
export function livingPod(index: number, volumes: readonly { readonly name: string }[] = []): ApiObject {
  const now = timeText()
  const name = `app-${index}-7d9c5b8f6d-x${String(index).padStart(4, '0')}`
  const volumeMounts = volumes.map((volume) => ({ name: volume.name, mountPath: `/volumes/${volume.name}` }))
  const containers = POD_SPEC.containers.map((each) => ({ ...each, volumeMounts }))
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      uid: podUid('living', index),
      creationTimestamp: now,
      labels: { app: `app-${index}`, 'pod-template-hash': '7d9c5b8f6d' },
      annotations: { 'checksum/config': '5bf118e6b0e543bf0d67c7fae00f1a84f49a6a0c95598b0ffd0bd99d6c1cb1f1' },
      managedFields: [
        {
          manager: 'kube-controller-manager',
          operation: 'Update',
          apiVersion: 'v1',
          time: now,
          fieldsV1: MANAGED_FIELDS,
        },
      ],
    },
    spec: { ...POD_SPEC, nodeName: NODE_NAME, volumes, containers },
    status: {
      phase: 'Running',
      startTime: now,
      hostIP: '192.0.2.2',
      podIP: '192.0.2.3',
      conditions: CONDITIONS.map((type) => ({ type, status: 'True', lastTransitionTime: now })),
      containerStatuses: containers.map(({ name, image }) => ({
        name,
        image,
        imageID: `registry.test/team/app@sha256:${'5bf118e6'.repeat(8)}`,
        containerID: `containerd://${'2c922ffa'.repeat(8)}`,
        ready: true,
        started: true,
        restartCount: 0,
        state: { running: { startedAt: now } },
        lastState: {},
      })),
    },
  }
  return pod
}
