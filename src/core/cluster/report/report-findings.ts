/** What no controller reports. */
import type { ClusterContext } from '../context/cluster-context.ts'
import type { ClusterFindings } from '../context/findings.ts'
import { reportAttachments } from './report-attachments.ts'
import { reportDrivers } from './report-drivers.ts'
import { reportKept } from './report-kept.ts'
import { reportObjects } from './report-objects.ts'
import { reportPods } from './report-pods.ts'
import { reportReading } from './report-reading.ts'
import { reportStatus } from './report-status.ts'

export function reportFindings(context: ClusterContext, findings: ClusterFindings): void {
  reportReading(context, findings)
  reportDrivers(context, findings)
  reportAttachments(context, findings)
  reportStatus(context, findings)
  reportObjects(context, findings)
  reportKept(context, findings)
  reportPods(context, findings)
}
