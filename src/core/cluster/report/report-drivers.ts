/** Drivers that are gone, and external attachers that do not run (N59). */

import { count } from '../../lang/count.ts'
import type { ClusterContext } from '../context/cluster-context.ts'
import { attacherLease, isDriverGone, isStale } from '../context/drivers.ts'
import type { ClusterFindings } from '../context/findings.ts'
import { shaped } from '../context/shaped.ts'

export function reportDrivers(context: ClusterContext, findings: ClusterFindings): void {
  const byDriver = Map.groupBy(context.actual.all, ({ object }) => object.attacher)
  for (const [driver, attached] of byDriver) {
    if (isDriverGone(context, driver)) reportGone(findings, driver, attached.length)
    else reportSilent(context, findings, driver, attached.filter(({ object }) => isPending(object)).length)
  }
}

/** It waits for its attacher, to attach or to detach. */
export function isPending({
  attached,
  deletedAt,
}: {
  readonly attached?: boolean
  readonly deletedAt?: string
}): boolean {
  return attached !== true || deletedAt !== undefined
}

function reportGone(findings: ClusterFindings, driver: string, left: number): void {
  findings.problem(
    'warning',
    'DriverRemoved',
    shaped`no CSIDriver, CSINode or attacher knows driver ${driver}, and nobody will detach what is left of it: ${count(left, 'VolumeAttachment')}`,
    { driver },
    'Install the driver again. Or, once the storage system has detached the volumes: volctl plan --cluster --strip-finalizers',
  )
}

/** Without anything that waits for it, a stale lease may be one of an attacher that does not elect a leader any more. */
function reportSilent(context: ClusterContext, findings: ClusterFindings, driver: string, pending: number): void {
  const lease = attacherLease(context, driver)
  if (lease === undefined || pending === 0 || !isStale(context, lease)) return
  findings.problem(
    'error',
    'AttacherSilent',
    shaped`no external attacher of driver ${driver} runs (lease ${lease.name} was last renewed ${lease.renewTime ?? ''}), and ${count(pending, 'VolumeAttachment')} ${pending === 1 ? 'waits' : 'wait'} for it`,
    { driver },
    "Look at the log of the attacher container of the driver's controller pods: kubectl get pods -A -o wide",
  )
}
