/** One volume as an answer shows it: who wants it, what is there of it, what becomes of it. */

import { omitUndefined } from '../base/collections.ts'
import { present } from '../base/text.ts'
import type { VolumeRow } from '../facts/row.ts'
import { deadWords } from '../linux/mount-table.ts'
import type { VolumeRef } from '../plan/plan.ts'
import {
  describeCsiVolume,
  describeDevice,
  describePersistentVolume,
  describeWanted,
} from '../reconcile/identity/volume-facts.ts'
import type { Decided } from '../reconcile/plan-node.ts'
import { type PlanContext, podNameOf } from '../rules/context.ts'
import { areOfOneRow, podOf } from '../volumes/finding.ts'
import { CSI_PLUGIN } from '../volumes/volume-names.ts'
import { chainOf } from './chain.ts'
import { type Concern, concernOf } from './concern.ts'
import type { DeadMount, VolumeView } from './explanation.ts'
import { type Because, deadVerdict, nothingVerdict, verdictOf } from './verdict.ts'
import { mountPathsOf, partOf, podParts } from './volume-part.ts'

/** @param only UIDs of pods: what others do with it is not said; empty: of all */
export function describeVolume(decided: Decided, volume: VolumeRow, only: readonly string[]): VolumeView {
  const { context, plan } = decided
  const concern = concernOf(decided, { pods: [], only, volumes: [volume] })
  const dead = deadMountOf(context, volume)
  return {
    volume: refOf(context, volume, concern),
    desired: desiredText(context, volume),
    chain: chainOf(context, volume, only),
    dead,
    verdict: verdictOf(concern, plan.summary.causes ?? [], {
      dead: dead && deadVerdict(dead),
      nothing: nothingVerdict(becauseOf(context, volume, concern)),
    }),
  }
}

function deadMountOf(context: PlanContext, volume: VolumeRow): DeadMount | undefined {
  const { inputs } = context
  const { onDisk, leaked, maps, staged, globals } = volume
  const subPaths = [...onDisk.flatMap((each) => each.subPaths ?? []), ...leaked]
  // What lies below is the volume's trouble, whoever has mounted it.
  const foreign = [...onDisk, ...subPaths, ...maps, ...staged, ...globals].flatMap((each) => each.foreign)
  const paths = [
    ...[...podParts(context, volume), partOf(volume, undefined)].flatMap(mountPathsOf),
    ...maps.flatMap(({ mappings, stagingPath }) =>
      present(...mappings.flatMap(({ mapFile, publishPath }) => [mapFile, publishPath]), stagingPath),
    ),
    ...foreign.map((mount) => inputs.pathOf(mount)),
  ]
  const [found] = paths.flatMap((path) => {
    const dead = inputs.deadError(path)
    return dead === undefined ? [] : { path: inputs.absolute(path), dead: deadWords(dead) }
  })
  return found
}

/** As the plan has it, where it has an operation on it: with what only the operation knows of it. */
function refOf(context: PlanContext, volume: VolumeRow, { operations, waiting }: Concern): VolumeRef {
  const planned = [...operations, ...waiting].find(
    (each) => each.volume?.uniqueName !== undefined && areOfOneRow(each.subject, { row: volume.key }),
  )
  const { wanted, ended, unresolved, uniqueName, mounts } = volume
  const own = wanted[0] ?? ended[0]
  const known = own === undefined ? planned?.volume : describeWanted(context, own)
  if (known !== undefined) return { ...planned?.volume, ...omitUndefined(known), ...describeDevice(mounts.at(-1)) }
  return describeRow(context, volume, { uniqueName, podVolumeName: unresolved[0]?.podVolumeName })
}

/** What is known of a volume by its row. @param known better than the row shows it */
export function describeRow(
  context: PlanContext,
  volume: VolumeRow,
  known: Pick<Partial<VolumeRef>, 'name' | 'plugin' | 'uniqueName' | 'podVolumeName'>,
): VolumeRef {
  const { identity, persistentVolume, maps, mounts } = volume
  const { name = nameOf(volume), plugin = pluginOf(volume), uniqueName, podVolumeName } = known
  const mode = maps.length > 0 || persistentVolume?.spec.volumeMode === 'Block' ? 'Block' : 'Filesystem'
  const device = mounts.at(-1)
  if (identity !== undefined) return describeCsiVolume(context, { name, mode, identity, uniqueName, device })
  return {
    name,
    podVolumeName,
    uniqueName,
    plugin,
    mode,
    ...describePersistentVolume(persistentVolume),
    ...describeDevice(device),
  }
}

/** The spec name, or what comes closest. */
function nameOf(volume: VolumeRow): string {
  const { onDisk, globals, maps, leaked, staged, unresolved, persistentVolume, identity, attachment } = volume
  return (
    [...onDisk, ...maps, ...globals][0]?.name ??
    leaked[0]?.volumeName ??
    persistentVolume?.metadata.name ??
    unresolved[0]?.persistentVolumeName ??
    unresolved[0]?.podVolumeName ??
    identity?.handle ??
    staged[0]?.key ??
    attachment?.spec.source.persistentVolumeName ??
    attachment?.metadata.name ??
    volume.uniqueName ??
    'unknown'
  )
}

function pluginOf({ onDisk, globals, maps, staged, attachment }: VolumeRow): string {
  if (staged.length > 0 || attachment !== undefined) return CSI_PLUGIN
  return [...onDisk, ...globals, ...maps][0]?.plugin ?? 'unknown'
}

function desiredText(context: PlanContext, volume: VolumeRow): string {
  const { wanted, ended, unresolved, havingUids } = volume
  const podsText = (uids: readonly string[]): string => uids.map((uid) => `pod ${podNameOf(context, uid)}`).join(', ')
  const podsOf = (own: readonly { readonly podUid: string }[]): string => podsText(own.map(({ podUid }) => podUid))
  if (wanted.length > 0) return `wanted by ${podsOf(wanted)}`
  const [missing] = unresolved
  if (missing !== undefined) return `wanted by ${podsOf([missing])}, but not resolved: ${missing.message}`
  if (ended.length > 0) return `not wanted: ${podsOf(ended)} has ended`
  const [first] = havingUids
  if (first === undefined) return 'not wanted by any pod on this node'
  const isListed = context.classes.of(first)?.pod !== undefined
  const which = isListed ? 'does not want the volume, or has ended' : 'was deleted from the API'
  return `not wanted: left over from ${podsText([...havingUids])}, which ${which}`
}

/** The planner's word on the volume itself: on a target that is wanted before the device behind it. */
function becauseOf(context: PlanContext, volume: VolumeRow, { decisions }: Concern): Because {
  const wanted = new Set(volume.wanted.map(({ podUid }) => podUid))
  const own = decisions.filter(({ subject }) => wanted.has(podOf(subject) ?? ''))
  const best = own.find(({ satisfied }) => satisfied !== undefined) ?? own[0] ?? decisions[0]
  if (best?.satisfied !== undefined)
    return { ...best, why: `the volume is ${desiredText(context, volume)}, and ${best.satisfied}` }
  if (best !== undefined) return best
  if (volume.wanted.length > 0) return { why: 'volctl leaves the pod of this volume alone' }
  return { why: NOTHING_HERE }
}

export const NOTHING_HERE = 'no pod on this node wants the volume, and nothing of the volume is mounted or on disk here'
