/** Objects of the API as an API server has them, of the node that a test makes: healthy unless said otherwise. */

import type {
  CsiDriver,
  CsiNode,
  Node,
  ObjectMeta,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodVolumeSource,
  VolumeAttachment,
} from '../../src/core/kube/api/objects.ts'
import type { ApiSnapshot } from '../../src/core/volumes/snapshot.ts'
import { attachmentName } from '../../src/core/volumes/volume-names.ts'

/** By what a node proves to be the machine of its Node object. */
export const MACHINE = { machineID: 'machine-1', systemUUID: 'system-1', bootID: 'boot-1' }

/** What an administrator's credential is shown of a node. */
export function apiSnapshot(parts: Partial<ApiSnapshot> = {}): ApiSnapshot {
  return {
    server: 'https://api.test:6443',
    credential: 'admin',
    node: nodeObject({}),
    pods: [],
    persistentVolumeClaims: [],
    persistentVolumes: [],
    volumeAttachments: [],
    csiDrivers: [],
    csiNode: null,
    configMaps: [],
    secrets: [],
    errors: [],
    ...parts,
  }
}

export function nodeObject(status: Node['status'], metadata: Partial<ObjectMeta> = {}): Node {
  const annotations = { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' }
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'node-1', uid: 'node-uid', annotations, ...metadata },
    spec: {},
    status: { nodeInfo: MACHINE, ...status },
  }
}

/** The condition Ready, which the kubelet reported last at this time. */
export function ready(
  lastHeartbeatTime: string,
  parts: { readonly status?: string; readonly lastTransitionTime?: string } = {},
): Pick<NonNullable<Node['status']>, 'conditions'> {
  return { conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime, ...parts }] }
}

/** What a Node reports of these volumes, by their unique names. */
export function reported(names: readonly string[]): Pick<NonNullable<Node['status']>, 'volumesInUse'> {
  return { volumesInUse: names, ...attachedTo(names) }
}

export function attachedTo(names: readonly string[]): Pick<NonNullable<Node['status']>, 'volumesAttached'> {
  return { volumesAttached: names.map((name) => ({ name, devicePath: '' })) }
}

export function csiNodeObject(node: string, drivers: readonly string[]): CsiNode {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSINode',
    metadata: { name: node, uid: 'csinode' },
    spec: { drivers: drivers.map((name) => ({ name, nodeID: node })) },
  }
}

export function csiDriverObject(name: string, spec: CsiDriver['spec'] = {}): CsiDriver {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIDriver',
    metadata: { name, uid: `driver-${name}` },
    spec: { attachRequired: true, ...spec },
  }
}

/** A bound claim, `claim-NAME` unless it has a name of its own, and its PersistentVolume. */
export function boundVolume(
  name: string,
  spec: PersistentVolume['spec'],
  claim: { readonly name?: string; readonly namespace?: string } = {},
): { readonly claim: PersistentVolumeClaim; readonly volume: PersistentVolume } {
  const { accessModes = ['ReadWriteOnce'], volumeMode = 'Filesystem' } = spec
  const capacity = { storage: '1Gi' }
  const metadata = { name: `claim-${name}`, namespace: 'default', uid: `claim-uid-${name}`, ...claim }
  return {
    claim: {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata,
      spec: { volumeName: name, accessModes, volumeMode },
      status: { phase: 'Bound', capacity },
    },
    volume: {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name, uid: `pv-uid-${name}` },
      spec: { accessModes, volumeMode, capacity, claimRef: metadata, ...spec },
      status: { phase: 'Bound' },
    },
  }
}

/** As the controller makes it, for a volume of the API. */
export function attachmentObject(
  driver: string,
  handle: string,
  volume: string,
  nodeName = 'node-1',
): VolumeAttachment {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttachment',
    metadata: {
      name: attachmentName(handle, driver, nodeName),
      uid: `va-uid-${volume}-${nodeName}`,
      finalizers: [`external-attacher/${driver.replaceAll('.', '-')}`],
    },
    spec: { attacher: driver, nodeName, source: { persistentVolumeName: volume } },
    status: { attached: true },
  }
}

/** Its one container mounts all of its volumes, but those that it has as `devices` (true: all). */
export function podObject(
  metadata: Partial<Pod['metadata']> & { readonly name: string; readonly uid: string },
  volumes: readonly PodVolumeSource[],
  given: {
    readonly devices?: readonly string[] | boolean
    readonly subPaths?: Readonly<Record<string, string>>
    readonly spec?: Partial<Pod['spec']>
    readonly status?: Pod['status']
  } = {},
): Pod {
  const { subPaths = {}, spec, status } = given
  const devices = given.devices === true ? volumes.map(({ name }) => name) : given.devices || []
  const mounted = volumes.flatMap(({ name }) => {
    const subPath = subPaths[name]
    return devices.includes(name) ? [] : [{ name, mountPath: `/${name}`, subPath }]
  })
  const volumeDevices = devices.map((name) => ({ name, devicePath: `/dev/${name}` }))
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', creationTimestamp: '2026-11-21T10:00:00Z', ...metadata },
    spec: {
      nodeName: 'node-1',
      volumes,
      containers: [{ name: 'c', volumeMounts: mounted, ...(devices.length > 0 && { volumeDevices }) }],
      ...spec,
    },
    status: { phase: 'Running', startTime: '2026-11-21T10:00:00Z', ...status },
  }
}
