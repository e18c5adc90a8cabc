/** What follows from each row of the controller's table (R731), for a node that exists. */

import { kubectl, volctl } from '../../base/command.ts'
import { rfc3339 } from '../../base/rfc3339.ts'
import type { Reason } from '../../messages/codes.ts'
import type { ClusterBlocked, Evidence } from '../../plan/cluster-plan.ts'
import type { Attached } from '../actual/actual-attachments.ts'
import { type ClusterContext, isSettled } from '../context/cluster-context.ts'
import { blockedBy } from '../context/findings.ts'
import { lookAtNode, planNodeGone, taintOutOfService, untaintOutOfService } from '../context/kubectl.ts'
import { isGivenAsGone, readinessOf } from '../context/readiness.ts'
import type { ClusterNode } from '../model/cluster-state.ts'
import { timeOf } from '../model/times.ts'
import { type DetachRow, endings, MAX_WAIT_FOR_UNMOUNT_MS, rowOnNode } from './node-state.ts'
import { BECAUSE, machineIsOff, mayBeInUse, mayWrite, settling, type Verdict, waitFor } from './verdict.ts'

export function fromNode(context: ClusterContext, attached: Attached, node: ClusterNode, reason: Reason): Verdict {
  const { object, uniqueName } = attached
  if (!isSettled(context, object.createdAt) || !isSettled(context, node.createdAt ?? '')) return settling(attached)
  const isInUse = uniqueName !== undefined && context.actual.isInUse(node.name, uniqueName)
  const { row, evidence, since, ended } = rowOnNode(context, node, uniqueName)
  const of = { driver: object.attacher, attachment: object.name, held: mayBeInUse(context, attached) }
  return ROWS[row]({ context, node, reason, isInUse, evidence, since, ...of }, endings(ended))
}

interface RowFacts {
  readonly context: ClusterContext
  readonly node: ClusterNode
  readonly reason: Reason
  readonly isInUse: boolean
  /** The attacher. */
  readonly driver: string
  /** Its name. */
  readonly attachment: string
  readonly evidence: readonly Evidence[]
  readonly since: string | undefined
  /** By a pod whose volume may be this one. */
  readonly held: ClusterBlocked | undefined
}

/** What follows from each row. */
const ROWS: Readonly<Record<DetachRow, (facts: RowFacts, ended: readonly Evidence[]) => Verdict>> = {
  NotInUse: ({ context, node, reason, driver, attachment }, evidence) => ({
    ...{ reason, rule: 'R731', evidence },
    message: `${BECAUSE[reason] ?? ''}no pod wants the volume on node ${node.name}, which does not report the volume in use`,
    blocked: useNotReported(context, driver, node.name, attachment),
  }),
  OutOfService: ({ node, reason, isInUse, evidence }) => ({
    reason: reason === 'NotWanted' ? 'OutOfService' : reason,
    ...{ rule: 'R731', evidence: [...evidence, { what: `node ${node.name} is tainted out-of-service` }] },
    message: `${BECAUSE[reason] ?? ''}node ${node.name} is tainted out-of-service, and no pod wants the volume there${isInUse ? '; the node still reports the volume in use' : ''}`,
    ...(isInUse && { exception: 'OutOfService', makeSure: machineIsOff(node.name) }),
  }),
  TaintedButReady: ({ context, node, reason, evidence }) => ({
    ...{ reason, rule: 'R731', evidence },
    message: `${BECAUSE[reason] ?? ''}no pod wants the volume on node ${node.name}`,
    blocked: blockedBy(
      'TaintedButReady',
      `node ${node.name} is tainted out-of-service, but its kubelet ${readinessOf(context, node).ready === 'True' ? 'reports that the node is ready' : 'is still heard, and reports the volume in use'}`,
      `If the machine runs: ${untaintOutOfService(node.name)}; if it is off, once its kubelet has been silent for a minute: ${planNodeGone(node.name)}`,
    ),
    controllerWould: 'detach the volume, in use or not, because of the taint',
  }),
  InUse: ({ context, node, held }) =>
    held === undefined
      ? waitFor(
          'StillInUse',
          'R739',
          `no pod wants the volume on node ${node.name}, which is ready and still reports the volume in use`,
          inUseHint(context, node),
        )
      : waitFor('StillInUse', 'R739', `${held.message}; the node still reports the volume in use`, held.hint),
  SilentTooShort: ({ context, node, since }) =>
    waitFor(
      'StillInUse',
      'R731',
      `node ${node.name} reports the volume in use, and was heard less than six minutes ago`,
      inUseHint(context, node),
      since === undefined ? undefined : rfc3339((timeOf(since) ?? 0) + MAX_WAIT_FOR_UNMOUNT_MS),
    ),
  NodeLost: ({ context, node, reason, evidence }) => ({
    reason: reason === 'NotWanted' ? 'NodeLost' : reason,
    ...{ rule: 'R731', evidence, exception: 'NodeLost', makeSure: machineIsOff(node.name) },
    message: `${BECAUSE[reason] ?? ''}no pod wants the volume on node ${node.name}, which ${readinessOf(context, node).isStale ? 'is silent' : 'is not ready and silent'} for more than six minutes; the node last reported the volume in use`,
    blocked: isGivenAsGone(context, node.name) ? undefined : mayWrite(node.name, taintOutOfService(node.name)),
    controllerWould: 'detach the volume by force now, whether its machine still writes or not',
  }),
  NodeUnknown: ({ node }) =>
    waitFor(
      'NodeUnknown',
      'R731',
      `whether node ${node.name} is ready is not known`,
      `Look at the node (${kubectl('describe', 'node', node.name)}), and start its kubelet. Once its machine is gone for good: ${kubectl('delete', 'node', node.name)}; then: ${planNodeGone(node.name)}`,
    ),
}

/** Why a node is not ready comes first. */
export function inUseHint(context: ClusterContext, node: ClusterNode): string {
  return readinessOf(context, node).ready === 'True'
    ? `If the volume stays in use, see on node ${node.name} what keeps it there: ${volctl('plan')}`
    : lookAtNode(node.name)
}

/** A kubelet reports only volumes in use that it takes for attachable (N62): its silence about another driver's shows nothing. */
function useNotReported(
  { objects }: ClusterContext,
  driver: string,
  node: string,
  attachment: string,
): ClusterBlocked | undefined {
  const found = objects.driver(driver)
  if (found.state === 'Absent' || (found.state === 'Found' && found.object.attachRequired !== false)) return undefined
  const why =
    found.state === 'Found'
      ? `driver ${driver} needs no attachment: no node reports`
      : `the CSIDriver of driver ${driver} ${found.reason}: perhaps no node reports`
  return blockedBy(
    'UseNotReported',
    `${why} its volumes in use`,
    `See on node ${node} that the volume is not mounted there: ${volctl('status')}; then: ${kubectl('delete', 'volumeattachment', attachment)}`,
  )
}
