/** What the attach/detach controller never does unasked, though it lives (R834): only that is an operation beside it. */

import type { Reason } from '../../codes/codes.ts'
import { parseCsiUniqueName } from '../../names/volume-names.ts'
import type { Attached } from '../actual/actual-attachments.ts'
import type { ClusterContext } from '../context/cluster-context.ts'
import { isDriverGone } from '../context/drivers.ts'
import type { ClusterAttachment } from '../model/cluster-state.ts'

/**
 * Why the controller does not detach it; undefined: it does. What volumesAttached of the Node lists the controller knows, even
 * after a restart (R717): it forgets only what stands in a VolumeAttachment alone (R718).
 */
export function neverDetached(context: ClusterContext, attached: Attached): Reason | undefined {
  const { object, uniqueName, persistentVolume, isNamedRight } = attached
  if (hasCaret(attached)) return 'HandleWithCaret'
  if (isNamedRight === false) return 'AttachmentNameWrong'
  const isKnown = uniqueName !== undefined && context.actual.isConfirmed(object.node, uniqueName)
  if (isKnown) return undefined
  if (persistentVolume === 'absent') return 'VolumeDeleted'
  if (persistentVolume === 'none') return 'InlineNotWanted'
  return isDriverGone(context, object.attacher) ? 'DriverRemoved' : undefined
}

/**
 * C33: not by a name that Kubernetes made. Somebody has created it for a use which neither pods nor kubelets, the only
 * witnesses of a volume's use, know of; the controller never deletes it.
 */
export function isForeign({ name }: ClusterAttachment): boolean {
  return !/^csi-[0-9a-f]{64}$/.test(name)
}

/** R738: the controller splits the unique name at ^, and needs exactly two parts. */
export function hasCaret({ uniqueName, volume }: Attached): boolean {
  const handle = volume?.handle ?? parseCsiUniqueName(uniqueName ?? '')?.handle
  return handle?.includes('^') ?? false
}
