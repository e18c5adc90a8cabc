/**
 * A healthy, busy cluster of any size, shaped as real ones are: an object for each index of each resource, made when it is
 * asked for, always the same. Most pods have only config maps and a token, some a volume of a StatefulSet.
 */
import { hash } from 'node:crypto'
import type { ApiObject, ObjectMeta } from '../../../src/core/kube/api/objects.ts'
import { csiUniqueName } from '../../../src/core/volumes/volume-names.ts'
import {
  attachmentObject,
  boundVolume,
  csiDriverObject,
  csiNodeObject,
  nodeObject,
  podObject,
  ready,
  reported,
} from '../../helpers/objects.ts'

/** Objects of one resource, in the order of the list. */
export interface BigList {
  readonly kind: string
  readonly apiVersion: string
  readonly length: number
  readonly at: (index: number) => ApiObject
}

export interface BigClusterSize {
  readonly nodes: number
  /** Default: 30, so that 5,000 nodes have 150,000 pods (N65). */
  readonly podsPerNode?: number
}

const DRIVER = 'ebs.csi.aws.com'
const ZONES = 3
const NAMESPACES = 200
/** Of this many pods one has a volume that is attached. */
const CLAIM_EVERY = 3

/** Its lists, by their paths. */
export function bigCluster({ nodes, podsPerNode = 30 }: BigClusterSize): Readonly<Record<string, BigList>> {
  const began = Date.now()
  const time = (secondsAgo: number): string => new Date(began - secondsAgo * 1000).toISOString().replace(/\.\d+/, '')
  const pods = nodes * podsPerNode
  const volumes = Math.floor(pods / CLAIM_EVERY)
  const nodeName = (pod: number): string => `node-${String(pod % nodes).padStart(5, '0')}`
  const uid = (kind: string, index: number): string => {
    const hex = hash('md5', `${kind}/${index}`)
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
  }
  const namespace = (pod: number): string => `team-${String(pod % NAMESPACES).padStart(3, '0')}`
  const volumeOf = (pod: number): number | undefined =>
    pod % CLAIM_EVERY === 0 && pod / CLAIM_EVERY < volumes ? pod / CLAIM_EVERY : undefined
  const podName = (pod: number): string =>
    pod % CLAIM_EVERY === 0
      ? `db-${Math.floor(pod / 3)}-0`
      : `web-${Math.floor(pod / 10)}-7d9c5b8f6d-${String(pod % 10)}x4k2`
  const handle = (volume: number): string => `vol-${(volume + 0x10000000).toString(16)}`
  const podOf = (volume: number): number => volume * CLAIM_EVERY
  const ofVolume = (volume: number) => {
    const pod = podOf(volume)
    const claim = { name: `data-${podName(pod)}`, namespace: namespace(pod), uid: uid('claim', volume) }
    const inZone = { key: ZONE, operator: 'In', values: [`zone-${(pod % nodes) % ZONES}`] }
    const spec = {
      capacity: { storage: '10Gi' },
      persistentVolumeReclaimPolicy: 'Delete',
      storageClassName: 'fast',
      csi: { driver: DRIVER, volumeHandle: handle(volume), fsType: 'ext4', volumeAttributes: ATTRIBUTES },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [inZone] }] } },
    }
    return boundVolume(`pvc-${uid('volume', volume)}`, spec, claim)
  }

  /** As a server sends it: with its version, and what the server notes of it. */
  const stored = <T extends ApiObject>(kind: string, index: number, object: T, more: Partial<ObjectMeta> = {}): T => ({
    ...object,
    metadata: {
      ...object.metadata,
      uid: uid(kind, index),
      resourceVersion: String(1_000_000 + index),
      creationTimestamp: time(86_400 + index),
      managedFields: [
        { manager: 'kube-controller-manager', operation: 'Update', apiVersion: 'v1', time: time(86_400 + index) },
        { manager: 'kubelet', operation: 'Update', apiVersion: 'v1', time: time(3600), fieldsV1: MANAGED_FIELDS },
      ],
      ...more,
    },
  })

  const pod = (index: number): ApiObject => {
    const isStateful = volumeOf(index) !== undefined
    const name = podName(index)
    const claim = { name: 'data', persistentVolumeClaim: { claimName: `data-${name}` } }
    const container = {
      image: 'registry.test/team/app:1.2.3',
      imageID: `registry.test/team/app@sha256:${'5bf118e6'.repeat(8)}`,
      containerID: `containerd://${'2c922ffa'.repeat(8)}`,
      ready: true,
      restartCount: 0,
      state: { running: { startedAt: '2026-11-20T00:00:00Z' } },
    }
    const status = {
      startTime: time(3600),
      hostIP: '192.0.2.2',
      podIP: '192.0.2.3',
      conditions: CONDITIONS.map((type) => ({ type, status: 'True', lastTransitionTime: time(3600) })),
      containerStatuses: ['app', 'sidecar'].map((container_) => ({ name: container_, ...container })),
    }
    const owner = {
      apiVersion: 'apps/v1',
      kind: isStateful ? 'StatefulSet' : 'ReplicaSet',
      name: name.slice(0, -2),
      uid: uid('owner', index),
      controller: true,
    }
    const made = podObject(
      {
        name,
        uid: '',
        namespace: namespace(index),
        labels: { app: name.slice(0, 6), 'pod-template-hash': '7d9c5b8f6d' },
        annotations: { 'checksum/config': '5bf118e6b0e543bf0d67c7fae00f1a84f49a6a0c95598b0ffd0bd99d6c1cb1f1' },
        ownerReferences: [owner],
      },
      [...VOLUMES, ...(isStateful ? [claim] : [])],
      { spec: { ...POD_SPEC, nodeName: nodeName(index) }, status },
    )
    return stored('pod', index, made)
  }

  const node = (index: number): ApiObject => {
    // Pods are dealt to nodes one by one, so those of a node are `nodes` apart.
    const own = Array.from({ length: podsPerNode }, (_, n) => volumeOf(index + n * nodes)).filter(
      (v) => v !== undefined,
    )
    const names = own.map((volume) => csiUniqueName(DRIVER, handle(volume)))
    const made = nodeObject(
      {
        ...ready(time(20), { lastTransitionTime: time(86_400) }),
        nodeInfo: {
          machineID: uid('machine', index).replaceAll('-', ''),
          systemUUID: uid('system', index),
          bootID: uid('boot', index),
          kubeletVersion: 'v1.36.2',
        },
        ...IMAGES,
        ...reported(names.sort()),
      },
      { name: nodeName(index), labels: { [ZONE]: `zone-${index % ZONES}` } },
    )
    return stored('node', index, made)
  }

  const claim = (volume: number): ApiObject =>
    stored('claim', volume, ofVolume(volume).claim, {
      annotations: { 'pv.kubernetes.io/bind-completed': 'yes' },
      finalizers: ['kubernetes.io/pvc-protection'],
    })

  const persistentVolume = (volume: number): ApiObject =>
    stored('volume', volume, ofVolume(volume).volume, { finalizers: ['kubernetes.io/pv-protection'] })

  const attachment = (volume: number): ApiObject => {
    const made = attachmentObject(DRIVER, handle(volume), `pvc-${uid('volume', volume)}`, nodeName(podOf(volume)))
    const status = { attached: true, attachmentMetadata: DEVICE }
    const annotations = { 'csi.alpha.kubernetes.io/node-id': `i-${volume}` }
    return stored('attachment', volume, { ...made, status }, { annotations })
  }

  const csiNode = (index: number): ApiObject => stored('csiNode', index, csiNodeObject(nodeName(index), [DRIVER]))

  /** The controller's, the attacher's, then one for each node. */
  const lease = (index: number): ApiObject => {
    const leaders = ['kube-controller-manager', `external-attacher-leader-${DRIVER.replaceAll('.', '-')}`]
    const name = leaders[index] ?? nodeName(index - leaders.length)
    const renewTime = new Date().toISOString().replace('Z', '000Z')
    const made = {
      metadata: { name, uid: '', namespace: index < leaders.length ? 'kube-system' : 'kube-node-lease' },
      spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime },
    }
    return stored('lease', index, made)
  }

  const list = (kind: string, length: number, at: BigList['at'], apiVersion = 'v1'): BigList => ({
    ...{ kind: `${kind}List`, apiVersion },
    ...{ length, at },
  })
  const storage = 'storage.k8s.io/v1'
  return {
    '/api/v1/pods': list('Pod', pods, pod),
    '/api/v1/nodes': list('Node', nodes, node),
    '/api/v1/persistentvolumeclaims': list('PersistentVolumeClaim', volumes, claim),
    '/api/v1/persistentvolumes': list('PersistentVolume', volumes, persistentVolume),
    [`/apis/${storage}/volumeattachments`]: list('VolumeAttachment', volumes, attachment, storage),
    [`/apis/${storage}/csinodes`]: list('CSINode', nodes, csiNode, storage),
    [`/apis/${storage}/csidrivers`]: list('CSIDriver', 1, () => csiDriverObject(DRIVER), storage),
    '/apis/coordination.k8s.io/v1/leases': list('Lease', nodes + 2, lease, 'coordination.k8s.io/v1'),
  }
}

const ZONE = 'topology.kubernetes.io/zone'
const DEVICE = { devicePath: '/dev/xvdba' }
const ATTRIBUTES = { 'storage.kubernetes.io/csiProvisionerIdentity': '1700000000000-1-ebs.csi.aws.com' }
const IMAGES = {
  images: Array.from({ length: 20 }, (_, image) => ({
    names: [`registry.test/team/image-${image}@sha256:${'5bf118e6'.repeat(8)}`],
    sizeBytes: 100_000_000 + image,
  })),
}

const CONDITIONS = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled']

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

const VOLUMES = [
  { name: 'config', configMap: { name: 'settings', defaultMode: 420 } },
  { name: 'tmp', emptyDir: {} },
  { name: 'kube-api-access', projected: TOKEN },
]

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
