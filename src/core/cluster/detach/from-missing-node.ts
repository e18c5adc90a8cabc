/** Attachments of a node whose object was deleted. */

import type { Reason } from '../../codes/codes.ts'
import type { Attached } from '../actual/actual-attachments.ts'
import { type ClusterContext, isControllerAlive, isSettled } from '../context/cluster-context.ts'
import { orName } from '../context/kubectl.ts'
import { endings, isGivenAsGone, lastHeard } from './node-state.ts'
import { BECAUSE, LATEST, machineIsOff, mayWrite, settling, type Verdict, waitFor } from './verdict.ts'

/**
 * R734: for the controller the volume of a deleted Node is safe to detach. Its machine may still write, as that of a node that is
 * lost: silence shows only that its kubelet does not run. A person says that it does not (--node-gone).
 */
export function fromMissingNode(context: ClusterContext, attached: Attached, never: Reason | undefined): Verdict {
  const { object, uniqueName } = attached
  const { node } = object
  const isGiven = isGivenAsGone(context, node)
  if (!isGiven && isControllerAlive(context) && never === undefined) {
    return waitFor(
      'ControllerActs',
      'R734',
      `node ${node} does not exist; the attach/detach controller detaches the volume ${LATEST}`,
      `If the attachment stays: make sure that the machine is off; then: volctl plan --cluster --node-gone ${orName(node)}`,
    )
  }
  if (!isGiven && !isSettled(context, object.createdAt)) return settling(attached)
  const heard = lastHeard(context, node)
  const ended = uniqueName === undefined ? [] : context.desired.endedOn(node, uniqueName)
  return {
    ...{ reason: never ?? 'NodeDeleted', rule: 'R734', exception: 'NodeGone', makeSure: machineIsOff(node) },
    message: `${BECAUSE[never ?? 'NodeDeleted'] ?? ''}node ${node} does not exist, and no pod wants the volume there`,
    evidence: [
      { what: `node ${node} is not in the list of nodes` },
      ...(heard === undefined ? [] : [{ what: `the kubelet of node ${node} last renewed its lease`, since: heard }]),
      ...endings(ended),
    ],
    ...(isGiven ? {} : { blocked: mayWrite(node) }),
  }
}
