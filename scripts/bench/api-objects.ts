/** The API's side of a bench's node: objects of the size that real ones have. */
import { podUid } from './layout.ts'

export const NODE_NAME = 'bench-node'
export const MACHINE_ID = 'b0c1d2e3f4a5968778695a4b3c2d1e0f'

export interface ApiObject {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly uid?: string }
}

const HOUR_MS = 3_600_000

const now = (): string => timeText(Date.now())

/** The kubelet has been stopped long enough (S11). */
const anHourAgo = (): string => timeText(Date.now() - HOUR_MS)

/** RFC 3339, in whole seconds. @param at milliseconds */
function timeText(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+/, '')
}

export function nodeObjects(): ApiObject[] {
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
      conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: anHourAgo(), lastTransitionTime: anHourAgo() }],
      volumesAttached: [],
      volumesInUse: [],
    },
  }
  const lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: NODE_NAME, namespace: 'kube-node-lease' },
    spec: { holderIdentity: NODE_NAME, renewTime: anHourAgo() },
  }
  return [node, lease]
}

export interface PodContent {
  readonly volumes: readonly object[]
  /** As large as a pod of a Deployment, with the API server's bookkeeping; default: the smallest pod. */
  readonly full?: boolean
}

/** A pod that runs on the node. */
export function livingPod(index: number, { volumes, full = false }: PodContent): ApiObject {
  const name = `app-${index}-7d9c5b8f6d-x${String(index).padStart(4, '0')}`
  const mounts = (volumes as readonly { name: string }[]).map((volume) => ({
    name: volume.name,
    mountPath: `/volumes/${volume.name}`,
  }))
  const container = { name: 'app', image: 'registry.test/team/app:1.2.3', volumeMounts: mounts }
  const started = { running: { startedAt: now() } }
  const spec = {
    nodeName: NODE_NAME,
    volumes,
    containers: full
      ? [
          { ...container, ...CONTAINER },
          { ...container, ...CONTAINER, name: 'sidecar' },
        ]
      : [container],
    ...(full ? POD_SPEC : {}),
  }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      uid: podUid('living', index),
      creationTimestamp: now(),
      labels: { app: `app-${index}`, 'pod-template-hash': '7d9c5b8f6d' },
      ...(full ? { annotations: ANNOTATIONS, managedFields: managedFields(spec) } : {}),
    },
    spec,
    status: {
      phase: 'Running',
      startTime: now(),
      hostIP: '192.0.2.2',
      podIP: '192.0.2.3',
      conditions: full ? CONDITIONS.map((type) => ({ type, status: 'True', lastTransitionTime: now() })) : [],
      containerStatuses: spec.containers.map(({ name, image }) => ({
        name,
        image,
        imageID: `registry.test/team/app@sha256:${'5bf118e6'.repeat(8)}`,
        containerID: `containerd://${'2c922ffa'.repeat(8)}`,
        ready: true,
        started: true,
        restartCount: 0,
        state: started,
        lastState: {},
      })),
    },
  } as ApiObject
}

const CONDITIONS = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled']

const ANNOTATIONS = {
  'checksum/config': '5bf118e6b0e543bf0d67c7fae00f1a84f49a6a0c95598b0ffd0bd99d6c1cb1f1',
  'prometheus.io/scrape': 'true',
  'prometheus.io/port': '9090',
}

const probe = { httpGet: { path: '/healthz', port: 8080, scheme: 'HTTP' }, periodSeconds: 10, failureThreshold: 3 }

const CONTAINER = {
  command: ['/app/server', '--listen=:8080', '--log-format=json'],
  env: Array.from({ length: 12 }, (_, index) => ({ name: `APP_SETTING_${index}`, value: `value of setting ${index}` })),
  ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
  resources: { limits: { cpu: '500m', memory: '256Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
  livenessProbe: probe,
  readinessProbe: probe,
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'IfNotPresent',
}

const POD_SPEC = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  serviceAccountName: 'default',
  schedulerName: 'default-scheduler',
  securityContext: { runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000 },
  tolerations: ['not-ready', 'unreachable'].map((key) => ({
    key: `node.kubernetes.io/${key}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 300,
  })),
}

/** The API server's own notes on who set which field. */
function managedFields(value: unknown): object[] {
  const fields = (each: unknown): object =>
    typeof each === 'object' && each !== null
      ? Object.fromEntries(Object.entries(each).map(([key, below]) => [`f:${key}`, fields(below)]))
      : {}
  const fieldsV1 = { 'f:spec': fields(value) }
  return [{ manager: 'kube-controller-manager', operation: 'Update', apiVersion: 'v1', time: now(), fieldsV1 }]
}
