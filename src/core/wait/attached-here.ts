import { apiLookup, mayList } from '../desired/api-lookup.ts'
import { attachmentName, parseCsiUniqueName } from '../names/volume-names.ts'
import type { PlanContext } from '../reconcile/context/context.ts'

/**
 * Will a detach of the volume not be seen? A VolumeAttachment that is gone is seen in a list alone: to a GET the Node authorizer answers
 * 403, whether there is one or not (N32).
 */
export function isDetachUnseen(context: PlanContext, uniqueName: string): boolean {
  const { api } = context.inputs.snapshot
  if (api === undefined || parseCsiUniqueName(uniqueName) === undefined) return false
  return isAttachedHere(context, uniqueName) !== 'no' && !mayList(api, 'volumeattachments')
}

/**
 * Is a volume attached to this node, by its VolumeAttachment and by node.status.volumesAttached. The controller takes a volume out of
 * the status before it is detached, so that alone proves nothing (S3): of a CSI volume the VolumeAttachment must be gone.
 */
export function isAttachedHere({ inputs, objects }: PlanContext, uniqueName: string): 'yes' | 'no' | 'unknown' {
  const { api, nodeName } = inputs.snapshot
  if (api === undefined) return 'unknown'
  if (objects.isAttached(uniqueName)) return 'yes'
  const csi = parseCsiUniqueName(uniqueName)
  if (csi === undefined) return api.node === null ? 'unknown' : 'no'
  const { state } = apiLookup(api).volumeAttachment(attachmentName(csi.handle, csi.driver, nodeName))
  return state === 'Found' ? 'yes' : state === 'Absent' ? 'no' : 'unknown'
}
