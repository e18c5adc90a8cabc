/** How an emptyDir is made, alone or inside a volume that is built on one (P22, P36, P37). */

import type { VolumeToMount } from '../desired/desired-state.ts'
import { whoMounted } from '../mountinfo/mount-words.ts'
import type { Obstacle } from '../plan/draft.ts'
import type { Step } from '../plan/plan.ts'
import { podVolumeDir, readyMarker } from './paths.ts'
import type { SetUpContext } from './plugin.ts'

/** Any user may write into an emptyDir; the mode of the pod's directory decides who can reach it (P37). */
const MODE = '0777'

export interface InnerEmptyDir {
  /** What is mounted on the directory; undefined: nothing. */
  readonly mount: { readonly fsType: 'tmpfs' | 'hugetlbfs'; readonly options: readonly string[] } | undefined
  /** The name of its marker: `wrapped_NAME` inside another volume. */
  readonly marker: string
}

/**
 * The directory and its mount, then the caller's content, then the marker that says that the volume is ready. An old marker is
 * removed first, and an existing mount stays: a set-up that was killed half-way is repeated.
 */
export function emptyDirSteps(
  { inputs }: SetUpContext,
  volume: VolumeToMount,
  { mount, marker }: InnerEmptyDir,
  content: readonly Step[],
): Step[] {
  const target = inputs.absolute(podVolumeDir(volume))
  const ready = readyMarker(volume.podUid, marker)
  const isMounted = mount !== undefined && inputs.top(podVolumeDir(volume))?.fsType === mount.fsType
  return [
    ...(inputs.tree.has(ready) ? [{ op: 'unlink' as const, target: inputs.absolute(ready) }] : []),
    ...(isMounted ? [] : [{ op: 'mkdir' as const, target, mode: MODE, detail: 'exact' }]),
    ...(isMounted || mount === undefined
      ? []
      : [{ op: 'mount' as const, target, source: mount.fsType === 'tmpfs' ? 'tmpfs' : 'nodev', ...mount }]),
    ...content,
    { op: 'writeMarker', target: inputs.absolute(ready) },
  ]
}

/** Blocks if something else is mounted on the directory: nothing is mounted over it, and nothing in it is touched. */
export function foreignMount(
  { inputs }: SetUpContext,
  volume: VolumeToMount,
  { mount }: Pick<InnerEmptyDir, 'mount'>,
): Obstacle | undefined {
  const top = inputs.top(podVolumeDir(volume))
  if (top === undefined || top.fsType === mount?.fsType) return undefined
  return inTheWay(inputs.absolute(podVolumeDir(volume)), `a ${top.fsType}`)
}

/** @param what e.g. "a tmpfs" */
export function inTheWay(path: string, what: string): Obstacle {
  return {
    code: 'ForeignMount',
    message: `${what} that does not belong to the volume is mounted on ${path}`,
    hint: whoMounted(path),
  }
}
