/** Nodes as no one would think of them: pods in any state of life, their volumes in any state of decay. */
import fc from 'fast-check'
import type { NodeState } from '../../src/core/model/node-state.ts'
import { csiGlobalDir } from '../../src/core/names/volume-names.ts'
import { BEFORE_BOOT, DRIVER, HOUR_AGO, NOW, NodeBuilder, uid, volumeData } from './node-builder.ts'

const VOLUMES = ['pv-a', 'pv-b', 'pv-c'] as const

const podVolume = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('csi' as const),
      pv: fc.constantFrom(...VOLUMES),
      layers: fc.nat(2),
      stateFile: fc.constantFrom('good', 'good', 'none', 'empty', 'other'),
      data: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('emptyDir' as const),
      files: fc.nat(2),
      memory: fc.boolean(),
      ready: fc.boolean(),
      foreign: fc.constantFrom(false, false, false, true),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('secret' as const, 'configmap' as const),
      mounted: fc.boolean(),
      written: fc.boolean(),
      stranger: fc.constantFrom(false, false, false, true),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('nfs' as const, 'local-volume' as const, 'who-knows' as const),
      layers: fc.nat(2),
      data: fc.boolean(),
    }),
  },
)

const pod = fc.record({
  listed: fc.constantFrom('no', 'no', 'running', 'pending', 'deleting', 'succeeded', 'failed'),
  sandbox: fc.constantFrom('none', 'none', 'none', 'ready', 'notReady', 'created', 'exited', 'unknown'),
  process: fc.constantFrom(false, false, false, true),
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
  elsewhere: fc.constantFrom(false, false, false, true),
  staged: fc.constantFrom('no', 'yes', 'yes', 'noStateFile', 'stateFileAlone', 'empty'),
})

const surroundings = fc.record({
  kubelet: fc.constantFrom(
    'stopped',
    'stopped',
    'stopped',
    'stopped',
    'justStopped',
    'running',
    'mayReturn',
    'unknown',
  ),
  runtime: fc.constantFrom('answers', 'answers', 'answers', 'answers', 'silent', 'none', 'unproven'),
  drivers: fc.constantFrom([DRIVER], [DRIVER], [DRIVER], []),
  podListFailed: fc.constantFrom(false, false, false, false, false, true),
  missing: fc.constantFrom(
    undefined,
    undefined,
    undefined,
    undefined,
    'processes',
    'tree',
    'blockDevices',
    'deadMounts',
    'staticPods',
  ),
})

export const randomNode = fc
  .record({
    pods: fc.array(pod, { maxLength: 4 }),
    persistentVolumes: fc.tuple(persistentVolume, persistentVolume, persistentVolume),
    surroundings,
  })
  // Without a runtime there are no sandboxes.
  .map((node) =>
    node.surroundings.runtime === 'none'
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
  return runs({ sandbox, process }) || listed === 'running' || listed === 'pending'
}

function runs({ sandbox, process }: Pick<RandomPod, 'sandbox' | 'process'>): boolean {
  return process || ['ready', 'created', 'unknown'].includes(sandbox)
}

/** Names of the PersistentVolumes that a protected pod wants, or has on its disk. */
export function protectedVolumes({ pods }: RandomNode): Set<string> {
  return new Set(
    pods.filter(isProtected).flatMap(({ volumes, listed, directory }) =>
      volumes.flatMap((volume) => {
        if (volume.kind !== 'csi') return []
        // The state file decides, not the name: a PersistentVolume may have been created again under its name.
        const onDisk = volume.stateFile === 'other' ? 'pv-c' : volume.pv
        return [...(listed === 'no' ? [] : [volume.pv]), ...(directory ? [onDisk] : [])]
      }),
    ),
  )
}

export function buildNode(random: RandomNode): NodeState {
  const node = new NodeBuilder()
  for (const [n, each] of random.persistentVolumes.entries())
    addPersistentVolume(node, VOLUMES[n] ?? '', `7:${n}`, each)
  for (const [n, each] of random.pods.entries()) addPod(node, podUid(n), each)
  addSurroundings(node, random.surroundings)
  const state = node.build()
  const { missing } = random.surroundings
  if (missing === undefined) return state
  const { [missing as 'tree']: _, ...rest } = state.snapshot
  return { ...state, snapshot: rest }
}

function addPersistentVolume(
  node: NodeBuilder,
  name: string,
  dev: string,
  { attached, inUse, mode, elsewhere, staged }: RandomNode['persistentVolumes'][number],
): void {
  node.persistentVolume(name, { attached, inUse, accessModes: [mode] })
  if (elsewhere) node.attach(name, name, 'node-2')
  const dir = csiGlobalDir(DRIVER, name)
  if (staged === 'yes') node.staged(name, dev)
  if (staged === 'noStateFile') node.staged(name, dev, { stateFile: false })
  if (staged === 'stateFileAlone')
    node
      .dir(`${dir}/globalmount`)
      .file(`${dir}/vol_data.json`, JSON.stringify({ driverName: DRIVER, volumeHandle: name }))
  if (staged === 'empty') node.dir(`${dir}/globalmount`)
}

const PHASES = new Map([
  ['succeeded', 'Succeeded'],
  ['failed', 'Failed'],
  ['pending', 'Pending'],
])
const CONTAINERS = new Map([
  ['created', 'CREATED'],
  ['unknown', 'UNKNOWN'],
  ['ready', 'RUNNING'],
])

function addPod(node: NodeBuilder, id: string, random: RandomPod): void {
  const { listed, sandbox, process, directory, stray, subPaths, volumes } = random
  const named = volumes.map((volume) => [nameOf(volume), volume] as const)
  if (listed !== 'no') {
    const phase = PHASES.get(listed) ?? 'Running'
    const sources = named.map(([name, volume]) => ({ name, ...sourceOf(volume) }))
    node.pod(id, `pod-${id.slice(-2)}`, sources, { phase, deleted: listed === 'deleting' })
  }
  if (sandbox !== 'none') {
    const container = CONTAINERS.get(sandbox) ?? 'EXITED'
    node.sandboxes.push({
      uid: id,
      state: sandbox === 'ready' ? 'SANDBOX_READY' : 'SANDBOX_NOTREADY',
      containers: [{ name: 'c', state: `CONTAINER_${container}` }],
    })
  }
  if (process) node.processes.push(id)
  if (!directory) return
  node.dir(`pods/${id}`)
  if (stray) node.file(`pods/${id}/core.1`, undefined, HOUR_AGO, 7)
  for (const [name, volume] of named) addVolume(node, id, name, volume)
  const [first] = named
  if (first === undefined) return
  for (let index = 0; index < subPaths; index++)
    node.mount(`pods/${id}/volume-subpaths/${first[0]}/c/${index}`, shownBy(id, first[0], first[1]))
}

const DEVICES: Readonly<Record<string, string>> = { 'pv-a': '7:0', 'pv-b': '7:1', 'pv-c': '7:2' }

/** What a sub-path of this volume shows. */
function shownBy(id: string, name: string, volume: RandomVolume): { dev: string; root: string; fsType: string } {
  if (volume.kind === 'csi') return { dev: DEVICES[volume.pv] ?? '', root: '/sub', fsType: 'ext4' }
  return {
    dev: '254:0',
    root: `/var/lib/kubelet/pods/${id}/volumes/kubernetes.io~empty-dir/${name}/sub`,
    fsType: 'ext4',
  }
}

function nameOf(volume: { kind: string } | { kind: 'csi'; pv: string }): string {
  return 'pv' in volume ? volume.pv : volume.kind
}

function sourceOf(volume: RandomVolume): object {
  switch (volume.kind) {
    case 'csi':
      return { persistentVolumeClaim: { claimName: `claim-${volume.pv}` } }
    case 'emptyDir':
      return { emptyDir: volume.memory ? { medium: 'Memory' } : {} }
    case 'secret':
      return { secret: { secretName: 'some' } }
    case 'configmap':
      return { configMap: { name: 'some' } }
    default:
      return { nfs: { server: 'server.test', path: '/export' } }
  }
}

function addVolume(node: NodeBuilder, id: string, name: string, volume: RandomVolume): void {
  const volumes = `pods/${id}/volumes/kubernetes.io~`
  if (volume.kind === 'csi') addCsi(node, `${volumes}csi/${name}`, volume)
  else if (volume.kind === 'emptyDir') addEmptyDir(node, id, `${volumes}empty-dir/${name}`, volume)
  else if (volume.kind === 'secret' || volume.kind === 'configmap')
    addAtomic(node, id, `${volumes}${volume.kind}/${name}`, volume)
  else if ('data' in volume) {
    const dir = `${volumes}${volume.kind}/${name}`
    node.dir(dir)
    if (volume.data && volume.layers === 0) node.file(`${dir}/data`, undefined, HOUR_AGO, 3)
    for (let layer = 0; layer < volume.layers; layer++) node.mount(dir, { dev: '0:77', fsType: 'nfs4' })
  }
}

function addCsi(node: NodeBuilder, dir: string, volume: RandomVolume & { kind: 'csi' }): void {
  const { pv, layers, stateFile, data } = volume
  node.dir(`${dir}/mount`)
  if (data && layers === 0) node.file(`${dir}/mount/data`, undefined, HOUR_AGO, 3)
  for (let layer = 0; layer < layers; layer++)
    node.mount(`${dir}/mount`, { dev: DEVICES[pv] ?? '', fsType: 'ext4', source: `/dev/loop-${pv}` })
  if (stateFile === 'good') node.file(`${dir}/vol_data.json`, volumeData(pv, pv))
  if (stateFile === 'empty') node.file(`${dir}/vol_data.json`, '', BEFORE_BOOT)
  if (stateFile === 'other') node.file(`${dir}/vol_data.json`, volumeData(pv, 'pv-c'))
}

function addEmptyDir(node: NodeBuilder, id: string, dir: string, volume: RandomVolume & { kind: 'emptyDir' }): void {
  node.dir(dir)
  if (volume.memory) node.mount(dir, { fsType: 'tmpfs' })
  else for (let n = 0; n < volume.files; n++) node.file(`${dir}/sub/f${n}`, undefined, HOUR_AGO, 3)
  if (volume.foreign) node.mount(`${dir}/foreign`, { dev: '8:1', fsType: 'xfs' })
  if (volume.ready) node.file(`pods/${id}/plugins/kubernetes.io~empty-dir/${dir.split('/').at(-1)}/ready`)
}

function addAtomic(
  node: NodeBuilder,
  id: string,
  dir: string,
  volume: RandomVolume & { kind: 'secret' | 'configmap' },
): void {
  node.dir(dir)
  if (volume.kind === 'secret' && volume.mounted) node.mount(dir, { fsType: 'tmpfs' })
  else if (volume.written)
    node
      .file(`${dir}/..2026_11_21_10_00_00.1/key`, undefined, HOUR_AGO, 3)
      .link(`${dir}/..data`, '..2026_11_21_10_00_00.1')
  if (volume.stranger && !(volume.kind === 'secret' && volume.mounted)) node.file(`${dir}/mine`, undefined, HOUR_AGO, 3)
  if (volume.written) node.file(`pods/${id}/plugins/kubernetes.io~empty-dir/wrapped_${volume.kind}/ready`)
}

function addSurroundings(
  node: NodeBuilder,
  { kubelet, runtime, drivers, podListFailed }: RandomNode['surroundings'],
): void {
  node.drivers = [...drivers]
  if (podListFailed) node.overrideApi = { errors: [{ resource: 'pods', message: 'timed out' }] as never }
  const running = kubelet === 'running'
  const stoppedAt = kubelet === 'justStopped' ? { stoppedAt: NOW } : {}
  node.override = {
    ...(kubelet === 'unknown' ? {} : { kubelet: { running, mayReturn: kubelet === 'mayReturn', ...stoppedAt } }),
    ...(runtime === 'answers'
      ? {}
      : {
          runtime:
            runtime === 'silent'
              ? { source: 'cri', endpoint: '/run/c.sock', error: 'no answer', pods: [] }
              : { source: runtime === 'none' ? 'none' : 'cri', pods: [] },
        }),
  }
  if (kubelet === 'unknown') node.override = { ...node.override, kubelet: undefined as never }
}
