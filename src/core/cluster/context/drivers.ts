/** Is a CSI driver shown to be gone, and does its external attacher live? */

import { memoize } from '../../base/memoize.ts'
import type { LeaseEvidence } from '../model/cluster-state.ts'
import { heardAt, timeOf } from '../model/times.ts'
import type { ClusterContext } from './cluster-context.ts'
import { describeAttachment, lookAtAttacher } from './kubectl.ts'

/** A lease that is not renewed for this long is nobody's. */
const STALE_MS = 120_000

/**
 * No CSIDriver has its name, no CSINode lists it, and no attacher of its name renews a lease; all of that read as a whole (S3).
 * A driver may work without a CSIDriver object (C35), but not without a node that has it or an attacher.
 */
export function isDriverGone(context: ClusterContext, driver: string): boolean {
  const { objects, state, driversOnNodes } = context
  if (driver === '' || !objects.isWhole('csidrivers') || !objects.isWhole('csinodes')) return false
  if (objects.driver(driver).state !== 'Absent' || driversOnNodes?.has(driver) !== false) return false
  const lease = attacherLease(context, driver)
  // Without the list of leases an attacher may live (S3).
  if (lease === undefined) return state.lostNodes !== undefined
  return isStale(context, lease)
}

/** A driver that needs no attachment has no external attacher as a rule. */
export function lookAtWhoDetaches({ objects }: ClusterContext, attachment: string, driver: string): string {
  const found = objects.driver(driver)
  return found.state === 'Found' && found.object.attachRequired === false
    ? `Driver ${driver} needs no attachment. Look at the attachment: ${describeAttachment(attachment)}`
    : lookAtAttacher(attachment, driver)
}

/** The lease of the driver's external attacher, if it elects a leader and was readable. */
export function attacherLease(context: ClusterContext, driver: string): LeaseEvidence | undefined {
  return leasesByName(context).get(leaseName(driver))
}

/** A driver that moved to another namespace leaves its old lease behind: of several the one that was heard last counts. */
const leasesByName = memoize(({ state }: ClusterContext): ReadonlyMap<string, LeaseEvidence> => {
  const byName = new Map<string, LeaseEvidence>()
  for (const lease of state.attachers) {
    const name = lastPart(lease.name)
    const before = byName.get(name)
    if (before === undefined || isHeardAfter(lease, before)) byName.set(name, lease)
  }
  return byName
})

/** A time that is not known was just now (S28). */
function isHeardAfter(lease: LeaseEvidence, before: LeaseEvidence): boolean {
  const [now, then] = [lease, before].map((each) => timeOf(heardAt(each)) ?? Number.POSITIVE_INFINITY)
  return (now ?? 0) > (then ?? 0)
}

/** Of namespace/name the name. */
export function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1)
}

/** As external-attacher names it: every other character than a letter or a digit becomes a dash. */
export function leaseName(driver: string): string {
  return `external-attacher-leader-${driver.replace(/[^a-zA-Z0-9-]/g, '-')}`
}

/** A lease that does not say when it was renewed is not known to be stale. */
export function isStale({ now }: Pick<ClusterContext, 'now'>, lease: LeaseEvidence): boolean {
  const { durationSeconds = 15 } = lease
  const renewed = timeOf(heardAt(lease))
  return renewed !== undefined && now - renewed > Math.max(STALE_MS, 3 * durationSeconds * 1000)
}
