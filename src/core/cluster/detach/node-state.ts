/** What the API shows of the node of an attachment: since when it is silent, and whether its machine may still write. */

import { defined } from '../../lang/defined.ts'
import { onceFor } from '../../lang/once-for.ts'
import type { Evidence } from '../../plan/cluster-plan.ts'
import type { ClusterContext } from '../context/cluster-context.ts'
import { isHeard, type Readiness, readinessOf } from '../context/readiness.ts'
import type { ClusterNode, ClusterPod, ClusterState } from '../model/cluster-state.ts'
import { newestOf, timeOf } from '../model/times.ts'
import { type DetachRow, detachRow } from './detach-row.ts'

/**
 * R735: the controller's clock starts when it first sees the volume unwanted, in its memory. What the API shows instead: since
 * when the node is not ready, its kubelet's last heartbeat and lease, and the deletion of pods with the volume. The newest
 * counts; without Ready's transition nothing is known.
 */
function silence(
  { name, heartbeat, leaseRenewTime, leaseWrittenAt = leaseRenewTime }: ClusterNode,
  { ready, since, isStale }: Readiness,
  ended: readonly ClusterPod[],
): { readonly evidence: readonly Evidence[]; readonly since?: string } {
  const state = isStale
    ? `Ready of node ${name} is True, but its kubelet is silent`
    : `Ready of node ${name} is ${ready ?? 'missing'}`
  const evidence: Evidence[] = [
    { what: state, ...defined({ since }) },
    ...(heartbeat === undefined
      ? []
      : [{ what: `the kubelet of node ${name} last reported its status`, since: heartbeat }]),
    ...(leaseWrittenAt === undefined
      ? []
      : [{ what: `the kubelet of node ${name} last renewed its lease`, since: leaseWrittenAt }]),
    ...endings(ended),
  ]
  const times = evidence.flatMap((each) => each.since ?? [])
  return { evidence, ...defined({ since: newestOf([since, ...times]) }) }
}

/** The row of R731 for a volume on a node that exists. Without its name nothing shows that it is in use. */
export function rowOnNode(
  context: ClusterContext,
  node: ClusterNode,
  uniqueName: string | undefined,
): {
  readonly row: DetachRow
  readonly evidence: readonly Evidence[]
  readonly since: string | undefined
  readonly ended: readonly ClusterPod[]
} {
  const { actual, desired, now } = context
  const ended = uniqueName === undefined ? [] : desired.endedOn(node.name, uniqueName)
  const readiness = readinessOf(context, node)
  const { evidence, since } = silence(node, readiness, ended)
  const time = timeOf(since)
  const row = detachRow({
    inUse: uniqueName !== undefined && actual.isInUse(node.name, uniqueName),
    ready: readiness.ready,
    tainted: node.outOfService,
    isHeard: isHeard(context, node),
    silentMs: time === undefined ? undefined : now - time,
  })
  return { row, evidence, since, ended }
}

/** Pods that have ended and are still in the API. */
export function endings(pods: readonly ClusterPod[]): Evidence[] {
  return pods.map(({ namespace, name, deletedAt }) => ({
    what: `pod ${namespace}/${name} has ended`,
    ...defined({ since: deletedAt }),
  }))
}

/**
 * A Node object that was deleted shows nothing of its machine. Its lease, which outlives it where the controllers are dead, shows
 * when its kubelet was last heard.
 */
export function lastHeard({ state }: ClusterContext, node: string): string | undefined {
  return lostNodes(state).get(node)
}

const lostNodes = onceFor(({ lostNodes: lost = [] }: ClusterState): ReadonlyMap<string, string> => {
  const times = Map.groupBy(lost, ({ name }) => name)
  return new Map(
    [...times].flatMap(([name, leases]) => {
      const newest = newestOf(leases.map((each) => each.leaseRenewTime))
      return newest === undefined ? [] : [[name, newest] as const]
    }),
  )
})
