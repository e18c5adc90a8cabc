/**
 * A healthy, busy cluster of any size, shaped as real ones are: an object for each index of each resource, made when it is
 * asked for, always the same for the same seed. Most pods have only config maps and a token, some a volume of a StatefulSet or
 * of a Deployment, a few are over; some volumes are on their way to or from a node.
 */
import { hash } from 'node:crypto'
import { attachmentName, csiUniqueName } from '../../../src/core/names/volume-names.ts'

export interface BigCluster {
  readonly resources: Readonly<Record<string, BigList>>
}

/** Objects of one resource, in the order of the list. */
export interface BigList {
  readonly kind: string
  readonly apiVersion: string
  readonly length: number
  readonly at: (index: number) => BigObject
}

export interface BigObject {
  readonly metadata: {
    readonly namespace?: string
    readonly name: string
    readonly uid: string
    readonly resourceVersion: string
    readonly creationTimestamp?: string
    readonly deletionTimestamp?: string
    readonly finalizers?: readonly string[]
    readonly managedFields?: readonly object[]
  }
  readonly spec?: object
  readonly status?: object
}

export interface BigClusterSize {
  readonly nodes: number
  /** Default: 30, so that 5,000 nodes have 150,000 pods (N65). */
  readonly podsPerNode?: number
  readonly seed?: number
}

const DRIVER = 'ebs.csi.aws.com'
const ZONES = 3
const NAMESPACES = 200
/** Of this many pods one has a volume that is attached. */
const CLAIM_EVERY = 3
/** Of this many pods with a volume, one is on its way to its node, and one is over and its volume on its way off. */
const ARRIVING_EVERY = 97
const OVER_EVERY = 89

export function bigCluster(size: BigClusterSize): BigCluster {
  const { nodes, podsPerNode = 30, seed = 1 } = size
  const began = Date.now()
  const time = (secondsAgo: number): string => new Date(began - secondsAgo * 1000).toISOString().replace(/\.\d+/, '')
  const pods = nodes * podsPerNode
  const volumes = Math.floor(pods / CLAIM_EVERY)
  const nodeName = (pod: number): string => `node-${String(pod % nodes).padStart(5, '0')}`
  const uid = (kind: number, index: number): string => {
    const hex = hash('md5', `${seed}/${kind}/${index}`)
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
  }
  const namespace = (pod: number): string => `team-${String(pod % NAMESPACES).padStart(3, '0')}`
  const podName = (pod: number): string =>
    hasClaim(pod) ? `db-${Math.floor(pod / 3)}-0` : `web-${Math.floor(pod / 10)}-7d9c5b8f6d-${String(pod % 10)}x4k2`
  const state = (volume: number): VolumeState =>
    volume % ARRIVING_EVERY === 5 ? 'arriving' : volume % OVER_EVERY === 7 ? 'over' : 'mounted'
  const handle = (volume: number): string => `vol-${(volume + 0x10000000).toString(16)}`
  const podOf = (volume: number): number => volume * CLAIM_EVERY
  const meta = (kind: number, index: number, name: string, more: object = {}): BigObject['metadata'] => ({
    name,
    uid: uid(kind, index),
    resourceVersion: String(1_000_000 + kind * 100_000 + index),
    creationTimestamp: time(86_400 + index),
    managedFields: [
      { manager: 'kube-controller-manager', operation: 'Update', apiVersion: 'v1', time: time(86_400 + index) },
      { manager: 'kubelet', operation: 'Update', apiVersion: 'v1', time: time(3600), fieldsV1: MANAGED_FIELDS },
    ],
    ...more,
  })
  const volumesOf = (node: number): number[] => {
    const found: number[] = []
    // Pods are dealt to nodes one by one, so those of a node are `nodes` apart.
    for (let pod = node; pod < pods; pod += nodes) if (hasClaim(pod)) found.push(pod / CLAIM_EVERY)
    return found.filter((volume) => volume < volumes)
  }

  const pod = (index: number): BigObject => {
    const volume = index / CLAIM_EVERY
    const ownState = hasClaim(index) && volume < volumes ? state(volume) : undefined
    const phase = ownState === 'over' ? 'Succeeded' : ownState === 'arriving' ? 'Pending' : 'Running'
    const name = podName(index)
    return {
      metadata: meta(1, index, name, {
        namespace: namespace(index),
        ...(ownState === 'arriving' ? { creationTimestamp: time(6) } : {}),
        labels: { app: name.slice(0, 6), 'pod-template-hash': '7d9c5b8f6d' },
        annotations: { 'checksum/config': '5bf118e6b0e543bf0d67c7fae00f1a84f49a6a0c95598b0ffd0bd99d6c1cb1f1' },
        ownerReferences: [
          {
            apiVersion: 'apps/v1',
            kind: ownState ? 'StatefulSet' : 'ReplicaSet',
            name: name.slice(0, -2),
            uid: uid(9, index),
            controller: true,
          },
        ],
      }),
      spec: {
        nodeName: nodeName(index),
        ...POD_SPEC,
        volumes: [
          { name: 'config', configMap: { name: 'settings', defaultMode: 420 } },
          { name: 'tmp', emptyDir: {} },
          { name: 'kube-api-access', projected: TOKEN },
          ...(ownState ? [{ name: 'data', persistentVolumeClaim: { claimName: `data-${name}` } }] : []),
        ],
      },
      status: {
        phase,
        startTime: time(3600),
        hostIP: '192.0.2.2',
        podIP: '192.0.2.3',
        conditions: CONDITIONS.map((type) => ({ type, status: 'True', lastTransitionTime: time(3600) })),
        containerStatuses: ['app', 'sidecar'].map((container) => ({
          name: container,
          image: 'registry.test/team/app:1.2.3',
          imageID: `registry.test/team/app@sha256:${'5bf118e6'.repeat(8)}`,
          containerID: `containerd://${'2c922ffa'.repeat(8)}`,
          ready: phase === 'Running',
          restartCount: 0,
          state: CONTAINER_STATES[phase],
        })),
      },
    }
  }

  const node = (index: number): BigObject => {
    const mine = volumesOf(index)
    const names = (wanted: readonly VolumeState[]): string[] =>
      mine.filter((volume) => wanted.includes(state(volume))).map((volume) => csiUniqueName(DRIVER, handle(volume)))
    return {
      metadata: meta(2, index, nodeName(index), {
        labels: { 'topology.kubernetes.io/zone': `zone-${index % ZONES}` },
        annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' },
      }),
      spec: { providerID: `aws:///zone/i-${index}` },
      status: {
        conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: time(20), lastTransitionTime: time(86_400) }],
        nodeInfo: {
          machineID: uid(3, index).replaceAll('-', ''),
          systemUUID: uid(4, index),
          bootID: uid(5, index),
          kubeletVersion: 'v1.36.2',
        },
        images: Array.from({ length: 20 }, (_, image) => ({
          names: [`registry.test/team/image-${image}@sha256:${'5bf118e6'.repeat(8)}`],
          sizeBytes: 100_000_000 + image,
        })),
        volumesInUse: names(['mounted']).sort(),
        volumesAttached: names(['mounted', 'over']).map((name) => ({ name, devicePath: '' })),
      },
    }
  }

  const claim = (volume: number): BigObject => {
    const of = podOf(volume)
    return {
      metadata: meta(6, volume, `data-${podName(of)}`, {
        namespace: namespace(of),
        annotations: { 'pv.kubernetes.io/bind-completed': 'yes' },
        finalizers: ['kubernetes.io/pvc-protection'],
      }),
      spec: {
        accessModes: ['ReadWriteOnce'],
        volumeName: `pvc-${uid(7, volume)}`,
        storageClassName: 'fast',
        volumeMode: 'Filesystem',
        resources: { requests: { storage: '10Gi' } },
      },
      status: { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '10Gi' } },
    }
  }

  const persistentVolume = (volume: number): BigObject => {
    const of = podOf(volume)
    return {
      metadata: meta(7, volume, `pvc-${uid(7, volume)}`, { finalizers: ['kubernetes.io/pv-protection'] }),
      spec: {
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '10Gi' },
        claimRef: {
          kind: 'PersistentVolumeClaim',
          namespace: namespace(of),
          name: `data-${podName(of)}`,
          uid: uid(6, volume),
        },
        persistentVolumeReclaimPolicy: 'Delete',
        storageClassName: 'fast',
        volumeMode: 'Filesystem',
        csi: {
          driver: DRIVER,
          volumeHandle: handle(volume),
          fsType: 'ext4',
          volumeAttributes: { 'storage.kubernetes.io/csiProvisionerIdentity': '1700000000000-1-ebs.csi.aws.com' },
        },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [
              {
                matchExpressions: [
                  { key: 'topology.kubernetes.io/zone', operator: 'In', values: [`zone-${(of % nodes) % ZONES}`] },
                ],
              },
            ],
          },
        },
      },
      status: { phase: 'Bound' },
    }
  }

  const attachment = (volume: number): BigObject => {
    const on = nodeName(podOf(volume))
    return {
      metadata: meta(8, volume, attachmentName(handle(volume), DRIVER, on), {
        finalizers: [`external-attacher/${DRIVER.replaceAll('.', '-')}`],
        annotations: { 'csi.alpha.kubernetes.io/node-id': `i-${volume}` },
        ...(state(volume) === 'over' ? { deletionTimestamp: time(3) } : {}),
        ...(state(volume) === 'arriving' ? { creationTimestamp: time(5) } : {}),
      }),
      spec: { attacher: DRIVER, nodeName: on, source: { persistentVolumeName: `pvc-${uid(7, volume)}` } },
      status:
        state(volume) === 'arriving'
          ? { attached: false }
          : { attached: true, attachmentMetadata: { devicePath: '/dev/xvdba' } },
    }
  }

  const csiNode = (index: number): BigObject => {
    return {
      metadata: meta(10, index, nodeName(index), {
        annotations: {
          'storage.alpha.kubernetes.io/migrated-plugins':
            'kubernetes.io/aws-ebs,kubernetes.io/azure-disk,kubernetes.io/gce-pd',
        },
      }),
      spec: {
        drivers: [
          {
            name: DRIVER,
            nodeID: `i-${index}`,
            topologyKeys: ['topology.kubernetes.io/zone'],
            allocatable: { count: 25 },
          },
        ],
      },
    }
  }

  /** The controller's, the attacher's, then one for each node. */
  const lease = (index: number): BigObject => {
    const [ns, name] =
      index === 0
        ? ['kube-system', 'kube-controller-manager']
        : index === 1
          ? ['kube-system', `external-attacher-leader-${DRIVER.replaceAll('.', '-')}`]
          : ['kube-node-lease', nodeName(index - 2)]
    return {
      metadata: meta(11, index, name ?? '', { namespace: ns }),
      spec: {
        holderIdentity: name,
        leaseDurationSeconds: 40,
        renewTime: new Date().toISOString().replace('Z', '000Z'),
      },
    }
  }

  const list = (kind: string, length: number, at: BigList['at'], apiVersion = 'v1'): BigList => ({
    kind,
    apiVersion,
    length,
    at,
  })
  const storage = 'storage.k8s.io/v1'
  return {
    resources: {
      '/api/v1/pods': list('PodList', pods, pod),
      '/api/v1/nodes': list('NodeList', nodes, node),
      '/api/v1/persistentvolumeclaims': list('PersistentVolumeClaimList', volumes, claim),
      '/api/v1/persistentvolumes': list('PersistentVolumeList', volumes, persistentVolume),
      [`/apis/${storage}/volumeattachments`]: list('VolumeAttachmentList', volumes, attachment, storage),
      [`/apis/${storage}/csinodes`]: list('CSINodeList', nodes, csiNode, storage),
      [`/apis/${storage}/csidrivers`]: list(
        'CSIDriverList',
        1,
        () => ({ metadata: meta(12, 0, DRIVER), spec: { attachRequired: true } }),
        storage,
      ),
      '/apis/coordination.k8s.io/v1/leases': list('LeaseList', nodes + 2, lease, 'coordination.k8s.io/v1'),
    },
  }
}

type VolumeState = 'arriving' | 'mounted' | 'over'

function hasClaim(pod: number): boolean {
  return pod % CLAIM_EVERY === 0
}

const CONDITIONS = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled']

const CONTAINER_STATES = {
  Running: { running: { startedAt: '2026-11-20T00:00:00Z' } },
  Pending: { waiting: { reason: 'ContainerCreating' } },
  Succeeded: { terminated: { exitCode: 0, finishedAt: '2026-11-20T00:00:00Z', reason: 'Completed' } },
} as const

export const TOKEN = {
  defaultMode: 420,
  sources: [
    { serviceAccountToken: { path: 'token', expirationSeconds: 3607 } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    {
      downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] },
    },
  ],
}

const CONTAINER = {
  image: 'registry.test/team/app:1.2.3',
  command: ['/app/server', '--listen=:8080', '--log-format=json'],
  env: Array.from({ length: 12 }, (_, index) => ({ name: `APP_SETTING_${index}`, value: `value of setting ${index}` })),
  ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
  resources: { limits: { cpu: '500m', memory: '256Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
  livenessProbe: { httpGet: { path: '/healthz', port: 8080, scheme: 'HTTP' }, periodSeconds: 10, failureThreshold: 3 },
  readinessProbe: { httpGet: { path: '/ready', port: 8080, scheme: 'HTTP' }, periodSeconds: 10, failureThreshold: 3 },
  volumeMounts: [
    { name: 'config', mountPath: '/etc/app' },
    { name: 'kube-api-access', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true },
  ],
  terminationMessagePath: '/dev/termination-log',
  imagePullPolicy: 'IfNotPresent',
}

export const POD_SPEC = {
  containers: [
    { name: 'app', ...CONTAINER },
    { name: 'sidecar', ...CONTAINER },
  ],
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  serviceAccountName: 'default',
  schedulerName: 'default-scheduler',
}

/** About as large as the API server's notes on a pod. */
const MANAGED_FIELDS = {
  'f:metadata': { 'f:labels': { '.': {}, 'f:app': {}, 'f:pod-template-hash': {} }, 'f:ownerReferences': { '.': {} } },
  'f:spec': Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [`f:setting${index}`, { '.': {}, 'f:value': {} }]),
  ),
}
