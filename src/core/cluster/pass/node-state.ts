/** What the API shows of the node of an attachment: since when it is silent, and whether its machine may still write. */

import type { Evidence } from '../../plan/cluster-plan.ts'
import { type ClusterContext, isHeard, type Readiness, readinessOf } from '../model/cluster-context.ts'
import type { ClusterNode, ClusterPod } from '../model/cluster-state.ts'
import { fact, newestOf, timeOf } from '../model/times.ts'

// The row of the controller's table by which a volume that no pod wants is detached from a node that exists, or is not (R731).

/** R725: how long the kubelet of a node that is not ready has to unmount. */
export const MAX_WAIT_FOR_UNMOUNT_MS = 6 * 60_000

export type DetachRow =
  /** Not in use: detached, and only after a fresh look at the Node (R734). R733 is never copied. */
  | 'NotInUse'
  /** Tainted out-of-service, and not ready: detached, in use or not. */
  | 'OutOfService'
  /** Tainted and ready, or in use by the word of a kubelet that is still heard: one of the two is wrong. */
  | 'TaintedButReady'
  /** In use on a node that is ready: the kubelet has to unmount first. */
  | 'InUse'
  /** In use, not ready, and the six minutes are not over. */
  | 'SilentTooShort'
  /** In use, not ready, and its kubelet silent for more than six minutes: the controller detaches by force. */
  | 'NodeLost'
  /** Ready is missing, or none of its three values, or nobody knows since when: nothing is detached. */
  | 'NodeUnknown'

/**
 * R735: the controller's clock starts when it first sees the volume unwanted, in its memory. What the API shows instead: since
 * when the node is not ready, its kubelet's last heartbeat and lease, and the deletion of pods with the volume. The newest
 * counts; without Ready's transition nothing is known.
 */
function silence(
  { name, heartbeat, leaseRenewTime, leaseWrittenAt = leaseRenewTime }: ClusterNode,
  { ready, since, isStale }: Readiness,
  ended: readonly Evidence[],
): readonly Evidence[] {
  const state = isStale ? 'is True, but its kubelet is silent' : `is ${ready ?? 'missing'}`
  const heard = (what: string, time: string | undefined): Evidence[] =>
    time === undefined ? [] : [fact(`the kubelet of node ${name} last ${what}`, time)]
  return [
    fact(`Ready of node ${name} ${state}`, since),
    ...heard('reported its status', heartbeat),
    ...heard('renewed its lease', leaseWrittenAt),
    ...ended,
  ]
}

/** The row of R731 for a volume on a node that exists. Without its name nothing shows that it is in use. */
export function rowOnNode(context: ClusterContext, node: ClusterNode, uniqueName: string | undefined) {
  const ended = endings(uniqueName === undefined ? [] : context.desired.endedOn(node.name, uniqueName))
  const readiness = readinessOf(context, node)
  const evidence = silence(node, readiness, ended)
  const since = newestOf([readiness.since, ...evidence.flatMap((each) => each.since ?? [])])
  const isInUse = uniqueName !== undefined && context.actual.isInUse(node.name, uniqueName)
  return { row: rowOf(context, node, isInUse, timeOf(since)), silence: evidence, since, endings: ended }
}

/** @param since when the node is known to be not ready and silent; undefined: not known */
function rowOf(context: ClusterContext, node: ClusterNode, isInUse: boolean, since: number | undefined): DetachRow {
  const { ready } = readinessOf(context, node)
  if (ready !== 'True' && ready !== 'False' && ready !== 'Unknown') return 'NodeUnknown'
  if (node.outOfService)
    return ready === 'True' || (isInUse && isHeard(context, node)) ? 'TaintedButReady' : 'OutOfService'
  if (!isInUse) return 'NotInUse'
  if (ready === 'True') return 'InUse'
  if (since === undefined) return 'NodeUnknown'
  return context.now - since > MAX_WAIT_FOR_UNMOUNT_MS ? 'NodeLost' : 'SilentTooShort'
}

/** Pods that have ended and are still in the API. */
export function endings(pods: readonly ClusterPod[]): Evidence[] {
  return pods.map(({ namespace, name, deletedAt }) => fact(`pod ${namespace}/${name} has ended`, deletedAt))
}

/**
 * A Node object that was deleted shows nothing of its machine. Its lease, which outlives it where the controllers are dead, shows
 * when its kubelet was last heard.
 */
export function lastHeard({ state: { lostNodes = [] } }: ClusterContext, node: string): string | undefined {
  return newestOf(lostNodes.filter(({ name }) => name === node).map(({ leaseRenewTime }) => leaseRenewTime))
}
