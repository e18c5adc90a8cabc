/** A node for trials: an API server, a runtime and two CSI drivers that are real, and a kubelet that is down. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { attachmentName, csiUniqueName } from '../../../src/core/names/volume-names.ts'
import type { ApplyEvent } from '../../../src/core/plan/events.ts'
import type { Plan } from '../../../src/core/plan/plan.ts'
import { startApiServer, type TestApiServer } from '../../helpers/api-server/start.ts'
import { startCriServer } from '../../helpers/cri-server/start.ts'
import { type CsiDriver, startCsiDriver } from '../../helpers/csi-driver/start.ts'
import { MACHINE, NAMESPACE, NODE } from '../../helpers/scene/api-objects.ts'
import { makePodDirectory } from '../../helpers/scene/pod-directory.ts'
import { runUnjudged, runVolctl } from '../../helpers/scene/volctl.ts'

/** ext4 on loop devices. */
const DISK_DRIVER = 'disk.example.com'
/** Directories of the node's own file system. */
const DIRECTORY_DRIVER = 'directory.example.com'

/** The one pod that is in the API and runs, so that the witnesses can prove their sight. */
const ALIVE = { name: 'alive-0', uid: '99999999-2222-4333-8444-000000000001' }

export interface PersistentVolume {
  readonly name: string
  readonly mode: 'Filesystem' | 'Block'
  /** Of a CSI volume; what the attacher said of the disk is its metadata. */
  readonly csi?: {
    readonly driver: string
    readonly handle: string
    readonly metadata?: Readonly<Record<string, string>>
  }
  /** Of a local one. */
  readonly path?: string
}

export interface TrialNode {
  readonly directory: string
  readonly root: string
  readonly disks: CsiDriver
  readonly directories: CsiDriver
  /** Tells the API server of these volumes alone: attached and reported in use where they are of a driver. */
  setVolumes(volumes: readonly PersistentVolume[]): Promise<void>
  plan(): Promise<Plan>
  /** Everything that may be done. */
  apply(): Promise<{
    readonly status: number | undefined
    readonly events: readonly ApplyEvent[]
    readonly text: string
  }>
}

export async function withTrialNode<T>(directory: string, use: (node: TrialNode) => Promise<T>): Promise<T> {
  const root = `${directory}/kubelet`
  mkdirSync(`${root}/pods`, { recursive: true, mode: 0o750 })
  const running = { uid: ALIVE.uid, namespace: NAMESPACE, name: ALIVE.name, state: 'SANDBOX_READY', containers: [] }
  const driver = (name: string, backend: 'loop' | 'bind', stateDir: string): Promise<CsiDriver> =>
    startCsiDriver({ name, rootDir: root, stateDir, backend })
  const [api, cri, disks, directories] = await Promise.all([
    startApiServer({ objects: [pod()], nodeName: NODE }),
    startCriServer({ socketPath: `${directory}/cri.sock`, pods: [running] }),
    driver(DISK_DRIVER, 'loop', `${directory}/disks`),
    driver(DIRECTORY_DRIVER, 'bind', `${directory}/directories`),
  ])
  makePodDirectory(root, ALIVE.uid)
  const hostFile = `${directory}/host.json`
  writeFileSync(hostFile, JSON.stringify(host(directory, root, cri.endpoint, api.kubeconfig('admin'))))
  const env = { VOLCTL_TEST_HOST: hostFile }
  try {
    return await use({
      directory,
      root,
      disks,
      directories,
      setVolumes: (volumes) => setVolumes(api, volumes),
      plan: async () => {
        const { stdout, stderr } = await runVolctl({ env }, ['plan', '--orphans', '-o', 'json'])
        if (stdout === '') throw new Error(`volctl plan: ${stderr}`)
        return JSON.parse(stdout) as Plan
      },
      apply: async () => {
        const { status, stdout, stderr } = await runUnjudged({ env }, ['apply', '--orphans', '--yes', '-o', 'ndjson'])
        if (stdout === '') throw new Error(`volctl apply: ${stderr}`)
        const events = stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as ApplyEvent]))
        return { status, events, text: stderr }
      },
    })
  } finally {
    await Promise.all([api.stop(), cri.stop(), disks.dispose(), directories.dispose()])
  }
}

function host(directory: string, rootDir: string, runtime: string, kubeconfig: string): object {
  return {
    ...MACHINE,
    bootTime: new Date(Date.now() - 86_400_000).toISOString(),
    nodeName: NODE,
    rootDir,
    kubelet: { running: false, mayReturn: false, note: 'kubelet.service inactive; masked' },
    runtimeEndpoints: [runtime],
    runtimeExpected: true,
    processes: [ALIVE.uid],
    lockFile: `${directory}/apply.lock`,
    journalDir: `${directory}/journal`,
    kubeconfig,
  }
}

let earlier: readonly PersistentVolume[] = []

async function setVolumes(api: TestApiServer, volumes: readonly PersistentVolume[]): Promise<void> {
  for (const { name, csi } of earlier) {
    await api.remove('PersistentVolume', name)
    await api.remove('PersistentVolumeClaim', name, NAMESPACE)
    if (csi) await api.remove('VolumeAttachment', attachmentName(csi.handle, csi.driver, NODE))
  }
  earlier = volumes
  await api.put(...nodeObjects(volumes), ...volumes.flatMap(volumeObjects))
}

const created = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString().replace(/\.\d+/, '')

function nodeObjects(volumes: readonly PersistentVolume[]): object[] {
  const names = volumes.flatMap(({ csi }) => (csi ? [csiUniqueName(csi.driver, csi.handle)] : []))
  const drivers = [DISK_DRIVER, DIRECTORY_DRIVER]
  return [
    {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name: NODE,
        uid: 'node-uid',
        creationTimestamp: created(9_000),
        annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' },
      },
      spec: {},
      status: {
        nodeInfo: { ...MACHINE, kubeletVersion: 'v1.36.2' },
        conditions: [
          { type: 'Ready', status: 'Unknown', lastHeartbeatTime: created(3), lastTransitionTime: created(2) },
        ],
        volumesInUse: names,
        volumesAttached: names.map((name) => ({ name, devicePath: '' })),
      },
    },
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSINode',
      metadata: { name: NODE, uid: 'csinode-uid' },
      spec: { drivers: drivers.map((name) => ({ name, nodeID: NODE, topologyKeys: null })) },
    },
    ...drivers.map((name) => ({
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSIDriver',
      metadata: { name, uid: `driver-${name}` },
      spec: { attachRequired: true, podInfoOnMount: false, volumeLifecycleModes: ['Persistent'] },
    })),
  ]
}

function volumeObjects({ name, mode, csi, path }: PersistentVolume): object[] {
  const claimRef = { name, namespace: NAMESPACE, uid: `claim-${name}` }
  const capacity = { storage: '16Mi' }
  const accessModes = ['ReadWriteOnce']
  const source = csi
    ? { csi: { driver: csi.driver, volumeHandle: csi.handle, ...(mode === 'Filesystem' && { fsType: 'ext4' }) } }
    : {
        local: { path },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [NODE] }] }],
          },
        },
      }
  return [
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: claimRef,
      spec: { accessModes, volumeName: name, volumeMode: mode, resources: { requests: capacity } },
      status: { phase: 'Bound', accessModes, capacity },
    },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name, uid: `pv-${name}` },
      spec: {
        accessModes,
        capacity,
        claimRef,
        ...source,
        persistentVolumeReclaimPolicy: 'Retain',
        volumeMode: mode,
      },
      status: { phase: 'Bound' },
    },
    ...(csi
      ? [
          {
            apiVersion: 'storage.k8s.io/v1',
            kind: 'VolumeAttachment',
            metadata: { name: attachmentName(csi.handle, csi.driver, NODE), uid: `attachment-${name}` },
            spec: { attacher: csi.driver, nodeName: NODE, source: { persistentVolumeName: name } },
            status: { attached: true, ...(csi.metadata && { attachmentMetadata: csi.metadata }) },
          },
        ]
      : []),
  ]
}

function pod(): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: ALIVE.name, namespace: NAMESPACE, uid: ALIVE.uid, creationTimestamp: created(60) },
    spec: { nodeName: NODE, volumes: [], containers: [{ name: 'main', image: 'registry.example.com/shop:1' }] },
    status: { phase: 'Running', startTime: created(59) },
  }
}
