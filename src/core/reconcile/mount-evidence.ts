/**
 * Is a wanted volume there? Judged by evidence, never, as a kubelet after a start does, by doing everything again
 * (O1, R805, C20, C92; contract, "Rules that volctl overrules").
 */
import { parentOf } from '../actual/tree.ts'
import type { VolumeToMount } from '../desired/desired-state.ts'
import { csiGlobalDir, escapeQualifiedName } from '../names.ts'
import type { PlanContext } from './context.ts'

export type MountEvidence =
  /** As it should be. `stateFileLost`: mounted, but a state file that teardown needs is not there. */
  | { readonly state: 'mounted'; readonly stateFileLost?: string }
  /** Nothing is to be mounted for this plugin (O33). */
  | { readonly state: 'satisfied' }
  | { readonly state: 'notMounted'; readonly why: string }

/** Relative path of what a pod's volume is mounted on (R021). */
export function targetOf(volume: VolumeToMount): string {
  const base = `pods/${volume.podUid}`
  const plugin = escapeQualifiedName(volume.plugin)
  if (volume.mode === 'Block') return `${base}/volumeDevices/${plugin}/${volume.specName}`
  if (volume.plugin === 'kubernetes.io/csi')
    return `${base}/volumes/${plugin}/${escapeQualifiedName(volume.specName)}/mount`
  return `${base}/volumes/${plugin}/${volume.specName}`
}

export function evidenceOf(context: PlanContext, volume: VolumeToMount): MountEvidence {
  const { inputs } = context
  const target = targetOf(volume)
  if (volume.plugin === 'kubernetes.io/host-path' || volume.plugin === 'kubernetes.io/image')
    return { state: 'satisfied' }
  if (volume.mode === 'Block') return blockEvidence(context, volume)
  const layers = inputs.at(target)
  switch (volume.plugin) {
    case 'kubernetes.io/csi':
      return csiEvidence(context, volume, target)
    case 'kubernetes.io/empty-dir': {
      const medium = volume.source?.emptyDir?.medium ?? ''
      if (medium === '') return directoryEvidence(context, volume, target, volume.specName)
      const fsType = medium.startsWith('HugePages') ? 'hugetlbfs' : 'tmpfs'
      return layers.at(-1)?.fsType === fsType ? { state: 'mounted' } : notMounted(`no ${fsType} is mounted on it`)
    }
    case 'kubernetes.io/configmap':
      return directoryEvidence(context, volume, target, `wrapped_${volume.specName}`)
    case 'kubernetes.io/secret':
    case 'kubernetes.io/downward-api':
    case 'kubernetes.io/projected':
      return layers.at(-1)?.fsType === 'tmpfs' ? { state: 'mounted' } : notMounted('no tmpfs is mounted on it')
    default:
      return layers.length > 0 ? { state: 'mounted' } : notMounted('nothing is mounted on it')
  }
}

/** Driver's business at the target (C17, C20): a mount point, or a link or device that a driver made in its stead. */
function csiEvidence({ inputs }: PlanContext, volume: VolumeToMount, target: string): MountEvidence {
  const dir = parentOf(target)
  const entry = inputs.tree.get(target)
  const published = inputs.at(target).length > 0 || entry?.type === 'link' || entry?.type === 'block'
  if (!published) return notMounted('nothing is mounted on it')
  if (!inputs.tree.has(`${dir}/vol_data.json`)) return { state: 'mounted', stateFileLost: `${dir}/vol_data.json` }
  if (volume.driver === undefined || volume.handle === undefined) return { state: 'mounted' }
  const global = csiGlobalDir(volume.driver, volume.handle)
  const staged = inputs.at(`${global}/globalmount`).length > 0
  return staged && !inputs.tree.has(`${global}/vol_data.json`)
    ? { state: 'mounted', stateFileLost: `${global}/vol_data.json` }
    : { state: 'mounted' }
}

/** Volumes on the kubelet's own disk: the directory and its `ready` marker (P21, R805). */
function directoryEvidence(
  { inputs }: PlanContext,
  volume: VolumeToMount,
  target: string,
  meta: string,
): MountEvidence {
  const ready = inputs.tree.has(`pods/${volume.podUid}/plugins/kubernetes.io~empty-dir/${meta}/ready`)
  const there = inputs.tree.isDir(target) || inputs.at(target).length > 0
  if (there && ready) return { state: 'mounted' }
  return notMounted(there ? 'its ready marker is missing' : 'its directory is missing')
}

/** Pod's link and the mapped device file (R805); CSI has it published besides. */
function blockEvidence({ inputs }: PlanContext, volume: VolumeToMount): MountEvidence {
  const link = inputs.tree.get(targetOf(volume))
  if (link?.type !== 'link') return notMounted("the pod's link to the device is missing")
  if (volume.plugin !== 'kubernetes.io/csi') return { state: 'mounted' }
  const base = 'plugins/kubernetes.io/csi/volumeDevices'
  const name = escapeQualifiedName(volume.specName)
  const map = `${base}/${name}/dev/${volume.podUid}`
  const isDevice = inputs.at(map).length > 0 || inputs.tree.get(map)?.type === 'block'
  if (!isDevice) return notMounted('no device is mapped for the pod')
  const data = `${base}/${name}/data/vol_data.json`
  return inputs.tree.has(data) ? { state: 'mounted' } : { state: 'mounted', stateFileLost: data }
}

function notMounted(why: string): MountEvidence {
  return { state: 'notMounted', why }
}
