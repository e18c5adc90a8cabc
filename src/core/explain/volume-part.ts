/** What there is of a volume for one pod, or on the node itself. */

import type { VolumeRow } from '../facts/row.ts'
import type { PlanContext } from '../rules/context.ts'
import type { PodClass } from '../rules/pods/pod-classes.ts'

export type VolumePart = ReturnType<typeof partOf<PodClass>>

/** One pod's part, or the node's own. */
export type AnyPart = ReturnType<typeof partOf<PodClass | undefined>>

/** Of every volume of the node: each pod's, and the node's own. */
export function allParts(context: PlanContext): AnyPart[] {
  const { ledger, objects } = context
  return ledger.all.flatMap((volume) => {
    const { staged, globals, maps, attachment, uniqueName } = volume
    const isHere = staged.length + globals.length + maps.length > 0 || attachment !== undefined
    const isReported = uniqueName !== undefined && (objects.isAttached(uniqueName) || objects.isInUse(uniqueName))
    return [...podParts(context, volume), ...(isHere || isReported ? [partOf(volume, undefined)] : [])]
  })
}

/** Of each pod that wants it, or has something of it. @param only UIDs of pods; empty: of all */
export function podParts({ classes }: PlanContext, volume: VolumeRow, only: readonly string[] = []): VolumePart[] {
  const uids = [...volume.podUids].filter((uid) => only.length === 0 || only.includes(uid))
  return uids.flatMap((uid) => classes.of(uid) ?? []).map((pod) => partOf(volume, pod))
}

/** Where the part is mounted or should be, sub-paths included; without raw block devices. Relative to the root directory. */
export function mountPathsOf({ volume, pod, onDisk, leaked }: AnyPart): string[] {
  if (pod === undefined)
    return [...volume.staged.map(({ target }) => target), ...volume.globals.map(({ path }) => path)]
  const subPaths = [...onDisk.flatMap((each) => each.subPaths ?? []), ...leaked]
  return [...onDisk.map(({ target }) => target), ...subPaths.flatMap(({ leaves }) => leaves.map(({ path }) => path))]
}

/** @param pod undefined: the node's own part, staged, mounted or mapped for all pods, and attached */
export function partOf<Pod extends PodClass | undefined>(volume: VolumeRow, pod: Pod) {
  const isOwn = ({ podUid }: { readonly podUid: string }): boolean => podUid === pod?.uid
  return {
    volume,
    pod,
    wanted: volume.wanted.find(isOwn),
    ended: volume.ended.find(isOwn),
    unresolved: volume.unresolved.filter(isOwn),
    onDisk: volume.onDisk.filter(isOwn),
    leaked: volume.leaked.filter(isOwn),
    mappings: volume.maps.flatMap(({ mappings }) => mappings.filter(isOwn)),
  }
}
