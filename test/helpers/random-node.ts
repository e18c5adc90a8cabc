/** Nodes as no one would think of them: pods in any state of life, their volumes in any state of decay. */
import fc from 'fast-check'
import type { NodeSnapshot, NodeState } from '../../src/core/volumes/snapshot.ts'
import { csiGlobalDir } from '../../src/core/volumes/volume-names.ts'
import { BEFORE_BOOT, DRIVER, NOW, NodeBuilder, uid, volumeData } from './node-builder.ts'
import { type Mounted, volumePath } from './pod-files.ts'

/** PersistentVolumes, and where they are. */
const DEVICES = { 'pv-a': '7:0', 'pv-b': '7:1', 'pv-c': '7:2' } as const
type Name = keyof typeof DEVICES
const NAMES = Object.keys(DEVICES) as Name[]

interface Kind {
  /** Of its volumes' directories, after `kubernetes.io~`. */
  readonly plugin: string
  /** In a pod. */
  readonly source: object
  /** What is mounted on it, if anything is; where it never is, its content is written into it. */
  readonly shown?: Mounted
}

const NFS = { nfs: { server: 'server.test', path: '/export' } }
const KINDS = {
  csi: { plugin: 'csi', source: {}, shown: { fsType: 'ext4' } },
  emptyDir: { plugin: 'empty-dir', source: { emptyDir: {} } },
  memory: { plugin: 'empty-dir', source: { emptyDir: { medium: 'Memory' } }, shown: {} },
  secret: { plugin: 'secret', source: { secret: { secretName: 'some' } }, shown: {} },
  configmap: { plugin: 'configmap', source: { configMap: { name: 'some' } } },
  nfs: { plugin: 'nfs', source: NFS, shown: { dev: '0:77', fsType: 'nfs4' } },
  'local-volume': { plugin: 'local-volume', source: NFS, shown: { dev: '0:77', fsType: 'nfs4' } },
  'who-knows': { plugin: 'who-knows', source: NFS, shown: { dev: '0:77', fsType: 'nfs4' } },
} as const satisfies Readonly<Record<string, Kind>>

const rarely = fc.constantFrom(false, false, false, true)

const podVolume = fc.record({
  kind: fc.oneof(
    { weight: 3, arbitrary: fc.constant('csi' as const) },
    { weight: 2, arbitrary: fc.constantFrom('emptyDir' as const, 'memory' as const) },
    { weight: 2, arbitrary: fc.constantFrom('secret' as const, 'configmap' as const) },
    { weight: 1, arbitrary: fc.constantFrom('nfs' as const, 'local-volume' as const, 'who-knows' as const) },
  ),
  pv: fc.constantFrom(...NAMES),
  /** Mounts on it, one over the other. */
  layers: fc.nat(2),
  /** What is written beside it or into it: a state file, content, a marker; of CSI it may be wrong. */
  written: fc.constantFrom('good', 'good', 'none', 'empty', 'other'),
  /** A file that nobody expects, under no mount. */
  data: rarely,
  /** A mount of somebody below it. */
  foreign: rarely,
})

const pod = fc.record({
  listed: fc.constantFrom('no', 'no', 'running', 'pending', 'deleting', 'succeeded', 'failed'),
  sandbox: fc.constantFrom('none', 'none', 'none', 'ready', 'notReady', 'created', 'exited', 'unknown'),
  process: rarely,
  directory: fc.constantFrom(true, true, true, false),
  stray: fc.constantFrom(false, false, false, false, true),
  subPaths: fc.nat(2),
  // One of each name: a pod cannot have two.
  volumes: fc.uniqueArray(podVolume, { maxLength: 3, selector: nameOf }),
})

const persistentVolume = fc.record({
  attached: fc.boolean(),
  inUse: fc.boolean(),
  mode: fc.constantFrom('ReadWriteOnce', 'ReadWriteOncePod', 'ReadWriteMany'),
  elsewhere: rarely,
  staged: fc.constantFrom('no', 'yes', 'yes', 'noStateFile', 'stateFileAlone', 'empty'),
})

/** Parts of the snapshot that are otherwise than on a node at rest. */
type Around = { readonly [Key in keyof NodeSnapshot]?: NodeSnapshot[Key] | undefined }
const stopped = { running: false, mayReturn: false }
const around = fc.record({
  kubelet: fc.constantFrom<Around[]>(
    ...[{}, {}, {}, {}],
    { kubelet: { ...stopped, stoppedAt: NOW } },
    { kubelet: { running: true, mayReturn: false } },
    { kubelet: { running: false, mayReturn: true } },
    { kubelet: undefined },
  ),
  runtime: fc.constantFrom<Around[]>(
    ...[{}, {}, {}, {}],
    { runtime: { source: 'cri', endpoint: '/run/c.sock', error: 'no answer', pods: [] } },
    { runtime: { source: 'none', pods: [] } },
    { runtime: { source: 'cri', pods: [] } },
  ),
  missing: fc.constantFrom<Around[]>(
    ...[{}, {}, {}, {}],
    ...[{ processes: undefined }, { tree: undefined }, { blockDevices: undefined }],
    ...[{ deadMounts: undefined }, { staticPods: undefined }],
  ),
})

export const randomNode = fc
  .record({
    pods: fc.array(pod, { maxLength: 4 }),
    persistentVolumes: fc.tuple(persistentVolume, persistentVolume, persistentVolume),
    around,
    hasDriver: fc.constantFrom(true, true, true, false),
    podListFailed: fc.constantFrom(false, false, false, false, false, true),
  })
  // Without a runtime there are no sandboxes.
  .map((node) =>
    node.around.runtime.runtime?.source === 'none'
      ? { ...node, pods: node.pods.map((each) => ({ ...each, sandbox: 'none' as const })) }
      : node,
  )

export type RandomNode = typeof randomNode extends fc.Arbitrary<infer T> ? T : never
type RandomPod = RandomNode['pods'][number]
type RandomVolume = RandomPod['volumes'][number]

/** The UID of the n-th pod. */
export const podUid = (n: number): string => uid(10 + n)

/** True if nothing of this pod may be touched in any case (S5, S9). */
export function isProtected({ listed, sandbox, process }: RandomPod): boolean {
  const runs = process || ['ready', 'created', 'unknown'].includes(sandbox)
  return runs || listed === 'running' || listed === 'pending'
}

/** Names of the PersistentVolumes that a protected pod wants, or has on its disk. */
export function protectedVolumes({ pods }: RandomNode): Set<string> {
  return new Set(
    pods.filter(isProtected).flatMap(({ volumes, listed, directory }) =>
      volumes.flatMap(({ kind, pv, written }) => {
        if (kind !== 'csi') return []
        // The state file decides, not the name: a PersistentVolume may have been created again under its name.
        const onDisk = written === 'other' ? 'pv-c' : pv
        return [...(listed === 'no' ? [] : [pv]), ...(directory ? [onDisk] : [])]
      }),
    ),
  )
}

export function buildNode({ pods, persistentVolumes, around, hasDriver, podListFailed }: RandomNode): NodeState {
  const node = new NodeBuilder().with({ ...around.kubelet, ...around.runtime })
  for (const [n, each] of persistentVolumes.entries()) addPersistentVolume(node, NAMES[n] ?? 'pv-a', each)
  for (const [n, each] of pods.entries()) addPod(node, podUid(n), each)
  if (!hasDriver) node.drivers = []
  if (podListFailed) node.withApi({ errors: [{ resource: 'pods', message: 'timed out' }] as never })
  return node.with(around.missing).build()
}

function addPersistentVolume(
  node: NodeBuilder,
  name: Name,
  { attached, inUse, mode, elsewhere, staged }: RandomNode['persistentVolumes'][number],
): void {
  node.persistentVolume(name, { attached, inUse, accessModes: [mode] })
  if (elsewhere) node.attach(name, name, 'node-2')
  const dir = csiGlobalDir(DRIVER, name)
  if (staged === 'yes' || staged === 'noStateFile') node.staged(name, DEVICES[name], { stateFile: staged === 'yes' })
  else if (staged !== 'no') node.dir(`${dir}/globalmount`)
  if (staged === 'stateFileAlone')
    node.file(`${dir}/vol_data.json`, JSON.stringify({ driverName: DRIVER, volumeHandle: name }))
}

const PHASES: Readonly<Record<string, string>> = { succeeded: 'Succeeded', failed: 'Failed', pending: 'Pending' }
const CONTAINERS: Readonly<Record<string, string>> = { created: 'CREATED', unknown: 'UNKNOWN', ready: 'RUNNING' }

function addPod(node: NodeBuilder, id: string, random: RandomPod): void {
  const { listed, sandbox, process, directory, stray, subPaths, volumes } = random
  if (listed !== 'no') {
    const sources = volumes.map((volume) => ({ name: nameOf(volume), ...sourceOf(volume) }))
    node.pod(id, `pod-${id.slice(-2)}`, sources, { phase: PHASES[listed] ?? 'Running', deleted: listed === 'deleting' })
  }
  if (sandbox !== 'none')
    node.sandboxes.push({
      uid: id,
      state: sandbox === 'ready' ? 'SANDBOX_READY' : 'SANDBOX_NOTREADY',
      containers: [{ name: 'c', state: `CONTAINER_${CONTAINERS[sandbox] ?? 'EXITED'}` }],
    })
  if (process) node.processes.push(id)
  if (!directory) return
  node.dir(`pods/${id}`)
  if (stray) node.file(`pods/${id}/core.1`, 'strayed')
  for (const volume of volumes) addVolume(node, id, volume)
  const [first] = volumes
  if (first === undefined) return
  for (let index = 0; index < subPaths; index++)
    node.mount(`pods/${id}/volume-subpaths/${nameOf(first)}/c/${index}`, subPathOf(id, first))
}

function nameOf({ kind, pv }: { kind: string; pv: string }): string {
  return kind === 'csi' ? pv : kind
}

function sourceOf({ kind, pv }: RandomVolume): object {
  return kind === 'csi' ? { persistentVolumeClaim: { claimName: `claim-${pv}` } } : KINDS[kind].source
}

/** What a sub-path of this volume shows. */
function subPathOf(id: string, volume: RandomVolume): Mounted {
  if (volume.kind === 'csi') return { dev: DEVICES[volume.pv], root: '/sub', fsType: 'ext4' }
  const root = `/var/lib/kubelet/${volumePath(id, 'empty-dir', nameOf(volume))}/sub`
  return { dev: '254:0', root, fsType: 'ext4' }
}

function addVolume(node: NodeBuilder, id: string, volume: RandomVolume): void {
  const { kind, pv, written, data, foreign } = volume
  const { plugin, shown }: Kind = KINDS[kind]
  const layers = shown === undefined ? 0 : volume.layers
  const dir = volumePath(id, plugin, nameOf(volume))
  const at = kind === 'csi' ? `${dir}/mount` : dir
  node.dir(at)
  if (plugin === 'empty-dir' && written === 'good') node.emptyDir(id, kind)
  if (['secret', 'configmap'].includes(kind) && written === 'good' && layers === 0)
    node.content(id, plugin, kind, { key: 'v' })
  if (data && layers === 0) node.file(`${at}/data`, 'abc')
  const device = kind === 'csi' ? { dev: DEVICES[pv], source: `/dev/loop-${pv}` } : {}
  for (let layer = 0; layer < layers; layer++) node.mount(at, { ...shown, ...device })
  if (foreign) node.mount(`${at}/foreign`, { dev: '8:1', fsType: 'xfs' })
  if (kind !== 'csi') return
  if (written === 'good') node.file(`${dir}/vol_data.json`, volumeData(pv, pv))
  if (written === 'empty') node.file(`${dir}/vol_data.json`, '', BEFORE_BOOT)
  if (written === 'other') node.file(`${dir}/vol_data.json`, volumeData(pv, 'pv-c'))
}
