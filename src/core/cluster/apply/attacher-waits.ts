/** What an attachment still waits for, by its own words and by those of its external attacher. */
import type { VolumeAttachment } from '../../model/objects.ts'
import type { ClusterContext } from '../context/cluster-context.ts'
import { attacherLease, isDriverGone, isStale } from '../context/drivers.ts'

/** Undefined: attached. */
export function waitsToAttach({ status, metadata }: VolumeAttachment): string | undefined {
  if (metadata.deletionTimestamp != null) return 'somebody else deletes it'
  if (status?.attached === true) return undefined
  const error = status?.attachError?.message
  return `waiting for the external attacher${error === undefined ? '' : `; the last attempt to attach failed: ${error}`}`
}

export function waitsToDetach({ status, metadata: { finalizers = [] } }: VolumeAttachment): string {
  const held = finalizers.length > 0 ? ` (${finalizers.join(', ')})` : ''
  const error = status?.detachError?.message
  return `deleted; waiting for the external attacher${held}${error === undefined ? '' : `; the last attempt to detach failed: ${error}`}`
}

/** Why nobody may be there to attach or detach; undefined: nothing shows that. */
export function whyNoAttacher(context: ClusterContext, driver: string): string | undefined {
  if (isDriverGone(context, driver)) return `no CSIDriver, CSINode or attacher knows driver ${driver}`
  const lease = attacherLease(context, driver)
  if (lease === undefined || !isStale(context, lease)) return undefined
  return `no external attacher of driver ${driver} runs: lease ${lease.name} was last renewed ${lease.renewTime ?? 'at an unknown time'}`
}
