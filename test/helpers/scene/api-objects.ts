/** Objects of a small cluster with one node, as an API server stores them. */
import { randomUUID } from 'node:crypto'
import { attachmentName, csiUniqueName } from '../../../src/core/names.ts'

export const DRIVER = 'disk.example.com'
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
}

export const handleOf = ({ name }: SceneVolume): string => `vol-${name}`
export const pvOf = ({ name }: SceneVolume): string => `pv-${name}`

const NODE_UID = randomUUID()

const created = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString().replace(/\.\d+/, '')

export function node(attached: readonly SceneVolume[]): object {
  const names = attached.map((volume) => csiUniqueName(DRIVER, handleOf(volume)))
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: NODE,
      uid: NODE_UID,
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

/** Driver, node registration and the config map that every service account token volume holds. */
export function clusterObjects(): object[] {
  return [
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSIDriver',
      metadata: { name: DRIVER, uid: randomUUID() },
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
      metadata: { name: NODE, uid: randomUUID() },
      spec: { drivers: [{ name: DRIVER, nodeID: NODE, topologyKeys: null }] },
    },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'settings', namespace: NAMESPACE, uid: randomUUID() },
      data: SETTINGS,
    },
  ]
}

export const SETTINGS = { 'app.conf': 'greeting = hello\n' }

/** Claim, bound volume and attachment. */
export function volumeObjects(volume: SceneVolume): object[] {
  const claim = { name: volume.name, namespace: NAMESPACE, uid: randomUUID() }
  const capacity = { storage: '16Mi' }
  const accessModes = ['ReadWriteOnce']
  return [
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: claim,
      spec: { accessModes, volumeName: pvOf(volume), volumeMode: 'Filesystem', resources: { requests: capacity } },
      status: { phase: 'Bound', accessModes, capacity },
    },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: pvOf(volume), uid: randomUUID() },
      spec: {
        accessModes,
        capacity,
        claimRef: claim,
        csi: { driver: DRIVER, volumeHandle: handleOf(volume), fsType: 'ext4' },
        persistentVolumeReclaimPolicy: 'Retain',
        volumeMode: 'Filesystem',
      },
      status: { phase: 'Bound' },
    },
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'VolumeAttachment',
      metadata: {
        name: attachmentName(handleOf(volume), DRIVER, NODE),
        uid: randomUUID(),
        finalizers: ['external-attacher/disk-example-com'],
      },
      spec: { attacher: DRIVER, nodeName: NODE, source: { persistentVolumeName: pvOf(volume) } },
      status: { attached: true },
    },
  ]
}

export interface ScenePod {
  readonly name: string
  readonly uid: string
  readonly volume: SceneVolume
}

/** A pod with one claim, a config map and two emptyDirs, one of them in memory. */
export function pod({ name, uid, volume }: ScenePod): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: NAMESPACE, uid, creationTimestamp: created(60) },
    spec: {
      nodeName: NODE,
      volumes: [
        { name: 'data', persistentVolumeClaim: { claimName: volume.name } },
        { name: 'settings', configMap: { name: 'settings', defaultMode: 420 } },
        { name: 'scratch', emptyDir: {} },
        { name: 'memory', emptyDir: { medium: 'Memory' } },
      ],
      containers: [
        {
          name: 'main',
          image: 'registry.example.com/shop:1',
          volumeMounts: [
            { name: 'data', mountPath: '/data' },
            { name: 'settings', mountPath: '/etc/shop' },
            { name: 'scratch', mountPath: '/scratch' },
            { name: 'memory', mountPath: '/memory' },
          ],
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
