/** One row of the answer: the facts of one volume, beside what the plan says. */

import { omitUndefined } from '../../base/collections.ts'
import { uniqueNameOfRow, type VolumeRow } from '../../facts/row.ts'
import type { VolumeRef } from '../../plan/plan.ts'
import { describeWanted } from '../../reconcile/identity/volume-facts.ts'
import type { PlanContext } from '../../rules/context.ts'
import { nodesWith } from '../../rules/other-nodes.ts'
import { placesUnseen } from '../../rules/pods/pod-classes.ts'
import { isListedWhole } from '../../volumes/api-lookup.ts'
import { mayBeOne } from '../../volumes/desired-state.ts'
import type { ActualInputs } from '../../volumes/on-disk/actual-inputs.ts'
import type { BlockMapping } from '../../volumes/on-disk/block-volume.ts'
import type { PodVolume, SubPaths } from '../../volumes/on-disk/pod-volumes.ts'
import { evidenceOf, globalPathOf } from '../../volumes/registry.ts'
import { otherMounted } from '../../volumes/same-volume.ts'
import { CSI_PLUGIN } from '../../volumes/volume-names.ts'
import { attachabilityOf } from '../chain-objects.ts'
import { describeRow } from '../describe-volume.ts'
import { type AnyPart, mountPathsOf } from '../volume-part.ts'
import { type Found, verdictOf } from './row-verdict.ts'
import type { AttachState, DeviceMountState, StatusRow } from './status.ts'

/**
 * @param found what the plan says of each row
 * @param unjudged why the node was not planned
 */
export function statusRow(
  context: PlanContext,
  source: AnyPart,
  found: Found,
  unjudged: string | undefined,
): StatusRow {
  const { volume, pod, wanted, ended, unresolved } = source
  const own = wanted ?? ended
  const parts = found.of(source)
  const planned = [...parts.operations, ...parts.waiting]
  const attach = attachOf(context, volume)
  const staged = deviceOf(context.inputs, volume)
  const ref = refOf(context, source, planned.find((each) => each.volume !== undefined)?.volume)
  // S3, S4: what a pod asks for could not be resolved, and may be this one.
  const mayBeWanted = (): boolean =>
    context.desired.unresolved.some(
      ({ podUid, mayBe }) => (pod === undefined || podUid === pod.uid) && mayBeOne(mayBe, ref),
    )
  const desired = knownDesireOf(source) ?? (unjudged !== undefined || mayBeWanted() ? 'unknown' : 'notWanted')
  return {
    pod: pod?.ref,
    volume: ref,
    podVolumeNames: [...new Set([...(own?.podVolumeNames ?? []), ...unresolved.map((each) => each.podVolumeName)])],
    desired,
    attach,
    inUse: inUseOf(context, volume, attach, staged),
    staged,
    ...(pod && mountOf(context.inputs, source)),
    dead: mountPathsOf(source).flatMap((path) => context.inputs.deadError(path) ?? [])[0],
    due: (['remount', 'expand'] as const).filter((due) => planned.some(({ kind }) => kind === DUE[due])),
    verdict: verdictOf(source, parts, unjudged),
    operations: parts.operations.map(({ id }) => id),
    causes: parts.causes,
  }
}

function knownDesireOf({ volume, pod, wanted, ended, unresolved }: AnyPart): StatusRow['desired'] | undefined {
  const ofNode = pod === undefined ? volume : undefined
  if (wanted !== undefined || (ofNode?.wanted.length ?? 0) > 0) return 'wanted'
  if (unresolved.length > 0 || (ofNode?.unresolved.length ?? 0) > 0) return 'unresolved'
  return ended !== undefined || (ofNode?.ended.length ?? 0) > 0 ? 'ended' : undefined
}

const DUE = { remount: 'RemountVolume', expand: 'ExpandVolume' } as const

/** As the plan has it, where an operation or a wait knows more of it. */
function refOf(context: PlanContext, source: AnyPart, planned: VolumeRef | undefined): VolumeRef {
  const { volume, pod, wanted, ended } = source
  const own = wanted ?? ended
  if (own !== undefined) return { ...planned, ...omitUndefined(describeWanted(context, own)) }
  if (planned !== undefined) return planned
  const ofNode = pod === undefined ? (volume.wanted[0] ?? volume.ended[0]) : undefined
  return describeRow(context, volume, {
    name: ofNode?.specName ?? source.onDisk[0]?.name,
    plugin: ofNode?.plugin,
    uniqueName: uniqueNameOfRow(volume),
  })
}

function attachOf(context: PlanContext, volume: VolumeRow): AttachState | undefined {
  const { objects, inputs } = context
  const { identity, persistentVolume, attachment } = volume
  const uniqueName = uniqueNameOfRow(volume)
  if (uniqueName === undefined && attachment === undefined) return undefined
  const nodeStatus = uniqueName !== undefined && objects.isAttached(uniqueName)
  const elsewhere =
    uniqueName === undefined
      ? []
      : nodesWith(context, { uniqueName, identity, persistentVolume }).map(({ name }) => name)
  const needed = attachabilityOf(context, volume)
  if (needed === 'notAttachable' && attachment === undefined && elsewhere.length === 0) return undefined
  // This node's.
  const view = attachment && {
    name: attachment.metadata.name,
    attached: attachment.status?.attached === true,
    deleting: attachment.metadata.deletionTimestamp !== undefined,
    error: attachment.status?.detachError?.message ?? attachment.status?.attachError?.message,
  }
  // Where attachments cannot be listed, the Node's status is all that there is.
  const isSaid =
    identity === undefined || (view === undefined && !isListedWhole(inputs.snapshot.api, 'volumeattachments'))
  const attached = nodeStatus && (isSaid || (view?.attached === true && !view.deleting))
  return { needed, attached, nodeStatus, attachment: view, elsewhere }
}

/**
 * R330: the kubelet reports an attachable volume as in use while a pod wants it, or anything of it is or may be mounted and the
 * Node's status shows it attached (R512).
 */
function inUseOf(
  { objects, uses }: PlanContext,
  volume: VolumeRow,
  attach: AttachState | undefined,
  staged: DeviceMountState | undefined,
): StatusRow['inUse'] {
  const uniqueName = uniqueNameOfRow(volume)
  if (attach === undefined || uniqueName === undefined) return undefined
  const isDesired = uses.of(uniqueName).some(({ how }) => how === 'wants it')
  const isThere =
    volume.mounts.length > 0 ||
    volume.onDisk.some(({ stateFile }) => stateFile !== undefined) ||
    (staged !== undefined && staged !== 'DeviceNotMounted')
  const computed = attach.needed === 'attachable' && (isDesired || (attach.nodeStatus && isThere))
  return { computed, reported: objects.isInUse(uniqueName) }
}

// Is a volume mounted, as far as disk and mount table show: the kubelet's VolumeMountState and DeviceMountState. The kubelet takes
// everything that it finds after a restart for uncertain. Evidence says more (R805): a mount with the state file that tear-down needs is
// certain, and only one without the other is uncertain (R806).

type Sight = 'proven' | 'uncertain' | 'nothing'

const MOUNTED = { proven: 'VolumeMounted', uncertain: 'VolumeMountUncertain', nothing: 'VolumeNotMounted' } as const
const STAGED = {
  proven: 'DeviceGloballyMounted',
  uncertain: 'DeviceMountUncertain',
  nothing: 'DeviceNotMounted',
} as const

/** Of all that may be there; what nobody looked at may be. */
function worst(inputs: ActualInputs, parts: readonly Sight[]): Sight {
  const found = (['uncertain', 'proven'] as const).find((each) => parts.includes(each))
  return found ?? (placesUnseen(inputs) === undefined ? 'nothing' : 'uncertain')
}

/** Of a pod's volume; what nothing is left of is not mounted. */
function mountOf(
  inputs: ActualInputs,
  { wanted, ended, onDisk, leaked, mappings }: AnyPart,
): Pick<StatusRow, 'mounted' | 'mountsNothing'> {
  const own = wanted ?? ended
  const evidence = own && evidenceOf(inputs, own)
  // The kubelet counts a hostPath as mounted for as long as the pod wants it.
  if (evidence?.state === 'satisfied')
    return { mounted: MOUNTED[wanted === undefined ? 'nothing' : 'proven'], mountsNothing: true }
  if (evidence?.state === 'mounted') {
    const isCertain = evidence.stateFileLost === undefined && evidence.other === undefined
    return { mounted: MOUNTED[isCertain ? 'proven' : 'uncertain'] }
  }
  const found = worst(inputs, [
    ...onDisk.map((each) => onDiskSight(inputs, each)),
    ...leaked.map(subPathSight),
    ...mappings.map((each) => (each.symlink !== undefined && isBound(each) ? 'proven' : 'uncertain')),
  ])
  // What is there of it is not what the pod would have.
  return { mounted: MOUNTED[evidence !== undefined && found === 'proven' ? 'uncertain' : found] }
}

function onDiskSight(inputs: ActualInputs, volume: PodVolume): Sight {
  const { plugin, name, target, layers, stateFile, markers, content, subPaths } = volume
  if (layers.length > 0) {
    if (plugin !== CSI_PLUGIN) return 'proven'
    const data = stateFile?.data
    const claimed = { plugin, specName: name, ...data }
    const isProven = data !== undefined && otherMounted(inputs, claimed, { path: target, staged: [] }) === undefined
    return isProven ? 'proven' : 'uncertain'
  }
  if (stateFile !== undefined) return 'uncertain'
  if (markers.length > 0) return 'proven'
  if (content.some(({ type }) => type !== 'dir')) return 'uncertain'
  return subPaths === undefined ? 'nothing' : subPathSight(subPaths)
}

/** Sub-paths go before their volume (R440): where the volume is unmounted, they are left over. */
function subPathSight({ leaves, foreign }: SubPaths): Sight {
  return foreign.length > 0 || leaves.some(({ layers }) => layers.length > 0) ? 'uncertain' : 'nothing'
}

function isBound({ mapLayers, publishLayers }: BlockMapping): boolean {
  return mapLayers.length + publishLayers.length > 0
}

/** Of the node's own mount or map of the volume; undefined: the volume has none. */
function deviceOf(inputs: ActualInputs, volume: VolumeRow): DeviceMountState | undefined {
  const { staged, globals, maps, onDisk } = volume
  const isPublished = onDisk.some(({ layers }) => layers.length > 0)
  const parts = [
    ...staged.flatMap(({ layers, foreign, stateFile }): Sight[] => {
      // An empty globalmount is what a driver without staging leaves (R025).
      if (layers.length + foreign.length === 0 && stateFile === undefined) return []
      // A driver may stage without a mount (C20).
      return [stateFile?.data !== undefined && (layers.length > 0 || isPublished) ? 'proven' : 'uncertain']
    }),
    ...globals.map(({ layers, content }): Sight => {
      return layers.length > 0 ? 'proven' : content.length > 0 ? 'uncertain' : 'nothing'
    }),
    ...maps.map(({ plugin, stateFile, staging, mappings }): Sight => {
      const isRecorded = plugin !== CSI_PLUGIN || stateFile?.data !== undefined
      if (isRecorded && mappings.some(isBound)) return 'proven'
      const isThere = staging.mounts.length + mappings.length > 0 || stateFile !== undefined
      return isThere ? 'uncertain' : 'nothing'
    }),
  ]
  if (parts.length === 0 && !isStagedWhenMounted(inputs, volume)) return undefined
  return STAGED[worst(inputs, parts)]
}

function isStagedWhenMounted(inputs: ActualInputs, { wanted: [wanted], onDisk }: VolumeRow): boolean {
  if (wanted === undefined || !wanted.deviceMountable) return false
  if (globalPathOf(wanted) === undefined) return false
  // A local volume that is a directory is bound into the pods as it is (P66).
  if (wanted.plugin !== CSI_PLUGIN || wanted.driver === undefined)
    return onDisk.every(({ layers }) => layers.length === 0)
  return inputs.stages(wanted.driver)
}
