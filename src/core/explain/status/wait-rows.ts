/** How far what is waited for is, by the rows of a status. Pure. */

import { compareText, present } from '../../base/text.ts'
import { type Naming, requireNamed } from '../../plan/names.ts'
import type { Narrowing } from '../../reconcile/filter-operations.ts'
import { unreadParts, unreadWithin } from '../../rules/unread.ts'
import { isListedWhole } from '../../volumes/api-lookup.ts'
import { narrowed, unmatchedNames, type WholeStatus } from './node-status.ts'
import type { StatusRow } from './status.ts'

/** One name that is waited for, and what bore it in the first look: when a pod is gone, its name finds nothing any more. */
export type WaitTarget = ReturnType<typeof waitTargets>[number]

/**
 * Each pod that is named, else each volume, else the namespaces, or the node.
 *
 * @throws VolctlError NothingNamed, AmbiguousName
 */
export function waitTargets(whole: WholeStatus, narrowing: Narrowing, condition: WaitCondition, naming: Naming) {
  const { context } = whole.decided
  requireNamed(unmatchedNames(whole, narrowing), naming)
  return partsOf(narrowing, context.inputs.snapshot.nodeName).flatMap(([name, part]) => {
    if (unmatchedNames(whole, part).length > 0) return []
    const { pods, namespaces, volumes = [] } = part
    const rows = narrowed(whole, part)
    const uids = rows.flatMap(({ pod }) => pod?.uid ?? [])
    // Most volumes are never attached.
    const kept = condition === 'detached' ? rows.filter(({ attach }) => attach !== undefined) : rows
    // Of an orphaned pod and the one that replaced it only the new one's volumes are to be mounted, and only the old one's are to go.
    const meant = uids.filter((uid) => (context.classes.of(uid)?.class === 'Desired') === (condition === 'mounted'))
    return {
      name,
      /** Of --volume. They are looked for again in each look, since a claim may be bound meanwhile. */
      volumes,
      /** UIDs; undefined: no pod was named. */
      pods: (pods ?? namespaces) && new Set(pods !== undefined && meant.length > 0 ? meant : uids),
      /** Names of the volumes of its rows; undefined: the whole node is waited for. */
      keys: (pods ?? namespaces ?? volumes[0]) === undefined ? undefined : new Set(kept.flatMap(keysOf)),
    }
  })
}

function partsOf({ pods, namespaces, volumes }: Narrowing, node: string): [string, Narrowing][] {
  const within = { namespaces, volumes }
  return (
    pods?.map((pod) => [`pod/${pod}`, { ...within, pods: [pod] }]) ??
    volumes?.map((volume) => [`volume/${volume}`, { ...within, volumes: [volume] }]) ??
    namespaces?.map((each) => [`namespace ${each}`, { namespaces: [each] }]) ?? [[`node/${node}`, {}]]
  )
}

/** What a row's volume is found by when other names of it are gone. */
function keysOf({ volume, attach }: StatusRow): string[] {
  return present(volume.name, volume.uniqueName, attach?.attachment?.name)
}

export function rowsOf(whole: WholeStatus, { pods, keys, volumes }: WaitTarget): readonly StatusRow[] {
  const named = new Set(volumes.length === 0 ? [] : narrowed(whole, { volumes }))
  const isOfVolume = (row: StatusRow): boolean =>
    keys === undefined || named.has(row) || keysOf(row).some((key) => keys.has(key))
  return whole.all.filter((row) => {
    if (row.pod === undefined || pods === undefined) return isOfVolume(row)
    return pods.has(row.pod.uid) && (volumes.length === 0 || isOfVolume(row))
  })
}

/** @returns undefined: the condition is reached; else what is missing, in a few words */
export function missing(whole: WholeStatus, target: WaitTarget, condition: WaitCondition): string | undefined {
  if (condition !== 'mounted' && !whole.decided.plan.complete) return 'not all that matters could be read'
  return CONDITIONS[condition](whole, target, rowsOf(whole, target))
}

/** As `missing`. */
type Judge = (whole: WholeStatus, target: WaitTarget, rows: readonly StatusRow[]) => string | undefined

const notInSync: Judge = ({ planOf }, _, rows) => {
  const { operations, waiting, refused } = planOf(rows)
  if (refused !== undefined) return refused.message
  const isLeft = operations.length + waiting.length > 0
  return isLeft ? `operations=${operations.length}, waiting=${waiting.length}` : undefined
}

const notMounted: Judge = ({ decided }, { pods, keys, volumes }, rows) => {
  const { classes } = decided.context
  const isUp = ({ desired, mounted, dead }: StatusRow): boolean =>
    desired === 'wanted' && mounted === 'VolumeMounted' && dead === undefined
  const byPod = Map.groupBy(rows, ({ pod }) => pod?.uid)
  byPod.delete(undefined)
  // By a pod that is meant to have it, and that the kubelet mounts for.
  const isDue = ({ desired }: StatusRow): boolean => desired !== 'notWanted' && desired !== 'ended'
  const down = [...byPod.values()].flat().filter((row) => isDue(row) && !isUp(row))
  if (down.length > 0) return `not mounted: ${namesOf(down)}`
  if (pods === undefined && keys !== undefined)
    return rows.some((row) => row.pod !== undefined && isUp(row)) ? undefined : 'no pod of this node wants it'
  // What is left of another in a pod that wants none is no sign of its end; but a volume that was named must be found (S3).
  const mayWantNone = (uid = ''): boolean => volumes.length === 0 && classes.of(uid)?.class === 'Desired'
  const ended = [...(pods ?? byPod.keys())].filter(
    (uid) => !mayWantNone(uid) && !byPod.get(uid)?.some(({ desired }) => desired === 'wanted'),
  )
  return ended.length === 0 ? undefined : `ended, or gone from the API: ${ended.map((uid) => `pod/${uid}`).join(', ')}`
}

/** R472: no mount, no map, no state file, no marker, no content. Of a volume, and of the node, nothing is staged either. */
const notUnmounted: Judge = ({ decided, sourceOf }, { pods }, rows) => {
  const { inputs } = decided.context
  const unread =
    pods === undefined
      ? unreadParts(inputs)[0]?.obstacle
      : [...pods].map((uid) => unreadWithin(inputs, `pods/${uid}`)).find((each) => each !== undefined)
  if (unread !== undefined) return unread.message
  const isSetUp = (row: StatusRow): boolean => {
    const { pod, mounted, mountsNothing, staged = 'DeviceNotMounted' } = row
    if (pod === undefined) return pods === undefined && staged !== 'DeviceNotMounted'
    // What the status calls not mounted for want of a mount of the volume's own.
    const isLeft = sourceOf.get(row)?.onDisk.some(({ foreign, content }) => foreign.length + content.length > 0)
    return isLeft === true || (mounted !== 'VolumeNotMounted' && mountsNothing !== true)
  }
  const left = rows.filter(isSetUp)
  return left.length === 0 ? undefined : `mounted or set up: ${namesOf(left)}`
}

/**
 * The controller takes a volume out of the Node's status before it is detached, so that alone proves nothing (S3): the
 * VolumeAttachment must be gone.
 */
const notDetached: Judge = ({ decided }, { keys }, rows) => {
  const { inputs, objects } = decided.context
  const { api } = inputs.snapshot
  if (keys?.size === 0 && rows.every(({ attach }) => attach === undefined)) return undefined
  if (!isListedWhole(api, 'volumeattachments') || !api?.node) return 'what is attached is not known'
  const left = rows.filter(
    ({ attach, volume }) => attach?.attachment !== undefined || objects.isAttached(volume.uniqueName ?? ''),
  )
  if (left.length > 0) return `attached: ${namesOf(left)}`
  const listed = [...(keys ?? [])].filter((key) => objects.isAttached(key))
  return listed.length === 0 ? undefined : `attached: ${listed.join(', ')}`
}

const CONDITIONS = { mounted: notMounted, unmounted: notUnmounted, detached: notDetached, 'in-sync': notInSync }
export type WaitCondition = keyof typeof CONDITIONS

function namesOf(rows: readonly StatusRow[]): string {
  return [...new Set(rows.map(({ podVolumeNames: [own], volume }) => own ?? volume.name))]
    .toSorted(compareText)
    .join(', ')
}
