/** How an emptyDir is made, by itself or inside a volume that is built on one (P22, P36, P37). */
import type { VolumeToMount } from '../desired/desired-state.ts'
import type { Step } from '../plan/plan.ts'
import type { PlanContext } from '../reconcile/context.ts'
import { podVolumeDir, readyMarker } from './paths.ts'

/** Anybody may write into an emptyDir; who may reach it the pod's directory decides (P37). */
const MODE = '0777'

export interface InnerEmptyDir {
  /** What is mounted on the directory; undefined: nothing. */
  readonly mount: { readonly fsType: 'tmpfs' | 'hugetlbfs'; readonly options: readonly string[] } | undefined
  /** The name of its marker: `wrapped_NAME` inside another volume. */
  readonly marker: string
}

/** The directory and its mount, then what the caller fills it with, then the marker that says that it is ready. */
export function emptyDirSteps(
  { inputs }: PlanContext,
  volume: VolumeToMount,
  { mount, marker }: InnerEmptyDir,
  content: readonly Step[],
): Step[] {
  const target = inputs.absolute(podVolumeDir(volume))
  return [
    { op: 'mkdir', target, mode: MODE, detail: 'exact' },
    ...(mount === undefined
      ? []
      : [{ op: 'mount' as const, target, source: mount.fsType === 'tmpfs' ? 'tmpfs' : 'nodev', ...mount }]),
    ...content,
    { op: 'write', target: inputs.absolute(readyMarker(volume.podUid, marker)) },
  ]
}
