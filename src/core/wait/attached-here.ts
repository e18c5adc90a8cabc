import { apiLookup } from '../desired/api-lookup.ts'
import { attachmentName, parseCsiUniqueName } from '../names/volume-names.ts'
import type { PlanContext } from '../reconcile/context/context.ts'

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
