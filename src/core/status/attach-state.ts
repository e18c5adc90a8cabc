/** Is a volume attached to this node, elsewhere, and in use here, as the kubelet and the API say (R330, R814). */
import { isListedWhole } from '../desired/api-lookup.ts'
import type { Attachability } from '../desired/volume-spec.ts'
import { attachmentView } from '../explain/describe-volume.ts'
import { defined } from '../lang/defined.ts'
import { uniqueNameOfRow, type VolumeRow } from '../ledger/row.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { nodesWith } from '../reconcile/obstacles/other-nodes.ts'
import { isLiving } from '../reconcile/pods/volume-users.ts'
import type { AttachState, DeviceMountState, StatusRow } from './status.ts'

/** @param unused attachability by a pod's spec, where no container uses the volume */
export function attachOf(context: PlanContext, volume: VolumeRow, unused?: Attachability): AttachState | undefined {
  const { objects, inputs } = context
  const { identity, persistentVolume, attachment } = volume
  const uniqueName = uniqueNameOfRow(volume)
  if (uniqueName === undefined && attachment === undefined) return undefined
  const nodeStatus = uniqueName !== undefined && objects.isAttached(uniqueName)
  const elsewhere =
    uniqueName === undefined
      ? []
      : nodesWith(context, { uniqueName, identity, persistentVolume }).map(({ name }) => name)
  const needed = neededOf(context, volume, unused, nodeStatus)
  if (needed === 'notAttachable' && attachment === undefined && elsewhere.length === 0) return undefined
  const view = attachmentView(volume)
  // Where attachments cannot be listed, the Node's status is all that there is.
  const isSaid =
    identity === undefined || (view === undefined && !isListedWhole(inputs.snapshot.api, 'volumeattachments'))
  const attached = nodeStatus && (isSaid || (view?.attached === true && !view.deleting))
  return { needed, attached, nodeStatus, ...defined({ attachment: view }), elsewhere }
}

/** By what pods want; of a leftover by what the API still shows (R512), then by its driver (R012). */
function neededOf(
  { inputs }: PlanContext,
  { wanted, ended, identity, attachment }: VolumeRow,
  unused: Attachability | undefined,
  isListed: boolean,
): Attachability {
  const known = wanted[0]?.attachability ?? ended[0]?.attachability ?? unused
  if (known !== undefined) return known
  if (attachment !== undefined || isListed) return 'attachable'
  if (identity === undefined) return 'notAttachable'
  const { api } = inputs.snapshot
  const driver = api?.csiDrivers.find(({ metadata }) => metadata.name === identity.driver)
  if (driver === undefined && !isListedWhole(api, 'csidrivers')) return 'unknown'
  return driver?.spec.attachRequired === false ? 'notAttachable' : 'attachable'
}

/**
 * R330: the kubelet reports an attachable volume as in use while a pod wants it, or anything of it is or may be mounted and the
 * Node's status shows it attached (R512).
 */
export function inUseOf(
  { objects, users }: PlanContext,
  volume: VolumeRow,
  attach: AttachState | undefined,
  found: { readonly mounted: boolean; readonly staged: DeviceMountState | undefined },
): NonNullable<StatusRow['inUse']> | undefined {
  const uniqueName = uniqueNameOfRow(volume)
  if (attach === undefined || uniqueName === undefined) return undefined
  const isDesired = users.of(uniqueName).some(({ pod, how }) => isLiving(pod) && how === 'wants it')
  const isThere = found.mounted || (found.staged !== undefined && found.staged !== 'DeviceNotMounted')
  const computed = attach.needed === 'attachable' && (isDesired || (attach.nodeStatus && isThere))
  return { computed, reported: objects.isInUse(uniqueName) }
}
