/** Objects of a small cluster with one node, as an API server stores them. Made again, they are the same. */
import { randomBytes } from 'node:crypto'
import { attachmentName, csiUniqueName, sha256Hex } from '../../../src/core/names/volume-names.ts'

/** Each scene has its own driver: another test's volume of this name would be the same one, in use elsewhere (S8). */
export const DRIVER = `disk-${randomBytes(4).toString('hex')}.example.com`
export const NODE = 'worker-1'
export const NAMESPACE = 'shop'

/** Of the machine that the scene plays; the test host says the same. */
export const MACHINE = {
  machineID: '5a3f1c0e9b7d4c6e8f2a1b3c4d5e6f70',
  systemUUID: '5a3f1c0e-9b7d-4c6e-8f2a-1b3c4d5e6f70',
  bootID: '0d4c6e8f-2a1b-4c4d-9e6f-705a3f1c0e9b',
}

export interface SceneVolume {
  /** pv-NAME is the PersistentVolume, vol-NAME the handle, NAME the claim. */
  readonly name: string
  /** `local`: a directory of the node, no driver. */
  readonly kind: 'filesystem' | 'block' | 'local'
}

export const isCsi = ({ kind }: SceneVolume): boolean => kind !== 'local'
export const handleOf = ({ name }: SceneVolume): string => `vol-${name}`
export const pvOf = ({ name }: SceneVolume): string => `pv-${name}`

/** A UUID that belongs to the text. */
function uuidOf(text: string): string {
  const hex = sha256Hex(text)
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  )
}

const created = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString().replace(/\.\d+/, '')

export function node(attached: readonly SceneVolume[]): object {
  const names = [...new Set(attached.filter(isCsi).map((volume) => csiUniqueName(DRIVER, handleOf(volume))))]
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: NODE,
      uid: uuidOf('node'),
      creationTimestamp: created(9_000),
      annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' },
    },
    spec: {},
    status: {
      nodeInfo: { ...MACHINE, kubeletVersion: 'v1.36.2' },
      conditions: [{ type: 'Ready', status: 'Unknown', lastHeartbeatTime: created(3), lastTransitionTime: created(2) }],
      volumesInUse: names,
      volumesAttached: names.map((name) => ({ name, devicePath: '' })),
    },
  }
}

/** Driver, node registration, and what the pods' configMap and secret volumes show. */
export function clusterObjects(): object[] {
  const secret = Object.entries(PASSWORD).map(([key, value]) => [key, Buffer.from(value).toString('base64')])
  return [
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSIDriver',
      metadata: { name: DRIVER, uid: uuidOf('driver') },
      spec: {
        attachRequired: true,
        podInfoOnMount: false,
        volumeLifecycleModes: ['Persistent'],
        fsGroupPolicy: 'File',
      },
    },
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSINode',
      metadata: { name: NODE, uid: uuidOf('csinode') },
      spec: { drivers: [{ name: DRIVER, nodeID: NODE, topologyKeys: null }] },
    },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'settings', namespace: NAMESPACE, uid: uuidOf('settings') },
      data: SETTINGS,
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'password', namespace: NAMESPACE, uid: uuidOf('password') },
      type: 'Opaque',
      data: Object.fromEntries(secret),
    },
  ]
}

export const SETTINGS = { 'app.conf': 'greeting = hello\n' }
export const PASSWORD = { password: 'open sesame' }

/** Claim and bound volume; for a volume with a driver, the attachment as well. `source` is the directory of a local one. */
export function volumeObjects(volume: SceneVolume, source: string): object[] {
  const claim = { name: volume.name, namespace: NAMESPACE, uid: uuidOf(`claim ${volume.name}`) }
  const capacity = { storage: '16Mi' }
  const accessModes = ['ReadWriteOnce']
  const volumeMode = volume.kind === 'block' ? 'Block' : 'Filesystem'
  const csi = { driver: DRIVER, volumeHandle: handleOf(volume), ...(volume.kind === 'block' ? {} : { fsType: 'ext4' }) }
  return [
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: claim,
      spec: { accessModes, volumeName: pvOf(volume), volumeMode, resources: { requests: capacity } },
      status: { phase: 'Bound', accessModes, capacity },
    },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: pvOf(volume), uid: uuidOf(`pv ${volume.name}`) },
      spec: {
        accessModes,
        capacity,
        claimRef: claim,
        ...(isCsi(volume) ? { csi } : { local: { path: source }, nodeAffinity: hereOnly }),
        persistentVolumeReclaimPolicy: 'Retain',
        volumeMode,
      },
      status: { phase: 'Bound' },
    },
    ...(isCsi(volume) ? [attachment(volume)] : []),
  ]
}

const hereOnly = {
  required: {
    nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [NODE] }] }],
  },
}

function attachment(volume: SceneVolume): object {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttachment',
    metadata: {
      name: attachmentName(handleOf(volume), DRIVER, NODE),
      uid: uuidOf(`attachment ${volume.name}`),
      finalizers: ['external-attacher/disk-example-com'],
    },
    spec: { attacher: DRIVER, nodeName: NODE, source: { persistentVolumeName: pvOf(volume) } },
    status: { attached: true },
  }
}

export interface ScenePod {
  readonly name: string
  readonly uid: string
  readonly volumes: readonly SceneVolume[]
  readonly others: readonly OtherVolume[]
}

/** Volumes without a PersistentVolume; `memory` and `scratch` are emptyDirs, `logs` is a hostPath. */
export type OtherVolume = 'settings' | 'password' | 'scratch' | 'memory' | 'logs'

export function pod({ name, uid, volumes, others }: ScenePod, hostPath: string): object {
  const claims = volumes.map((volume) => ({
    name: volume.name,
    persistentVolumeClaim: { claimName: volume.name },
  }))
  const podVolumes = [...claims, ...others.map((each) => ({ name: each, ...sourceOf(each, hostPath) }))]
  const blocks = volumes.filter(({ kind }) => kind === 'block').map((volume) => volume.name)
  const all = podVolumes.map((volume) => volume.name)
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: NAMESPACE, uid, creationTimestamp: created(60) },
    spec: {
      nodeName: NODE,
      volumes: podVolumes,
      containers: [
        {
          name: 'main',
          image: 'registry.example.com/shop:1',
          volumeMounts: all.filter((each) => !blocks.includes(each)).map((each) => mountOf(each)),
          volumeDevices: blocks.map((each) => ({ name: each, devicePath: `/dev/${each}` })),
        },
      ],
    },
    status: {
      phase: 'Running',
      startTime: created(59),
      containerStatuses: [{ name: 'main', state: { running: { startedAt: created(59) } } }],
    },
  }
}

const mountOf = (name: string): object => ({
  name,
  mountPath: `/${name}`,
  ...(name === 'logs' ? { subPath: 'shop' } : {}),
})

function sourceOf(name: OtherVolume, hostPath: string): object {
  switch (name) {
    case 'settings':
      return { configMap: { name: 'settings', defaultMode: 420 } }
    case 'password':
      return { secret: { secretName: 'password', defaultMode: 420 } }
    case 'scratch':
      return { emptyDir: {} }
    case 'memory':
      return { emptyDir: { medium: 'Memory' } }
    case 'logs':
      return { hostPath: { path: hostPath, type: '' } }
  }
}
