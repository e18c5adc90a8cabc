/** The plan of a cluster beside snapshots of its nodes (--nodes). */
import type { ClusterContext } from '../cluster/context/cluster-context.ts'
import type { FleetLedger } from '../cluster/fleet/read-fleet.ts'
import { planOver } from '../cluster/pass/plan-cluster.ts'
import { count } from '../lang/count.ts'
import type { ClusterPlan } from '../plan/cluster-plan.ts'
import { callerPath } from '../trust/caller.ts'

/** @param nodes a directory of snapshots, or "-"; undefined: the plan is made by the API alone */
export async function planBesideNodes(
  context: ClusterContext,
  nodes: string | undefined,
  log: (line: string) => void,
): Promise<ClusterPlan> {
  const plan = planOver(context)
  if (nodes === undefined) return plan
  const { withFleet } = await import('../cluster/fleet/with-fleet.ts')
  return withFleet(plan, context, await snapshotsOf(nodes, log))
}

/** @param nodes a directory of snapshots, or "-" */
export async function snapshotsOf(nodes: string, log: (line: string) => void): Promise<FleetLedger> {
  const { readFleet } = await import('../cluster/fleet/read-fleet.ts')
  const fleet = await readFleet(nodes === '-' ? nodes : callerPath(nodes))
  log(`read ${count(fleet.ledgers.length, 'snapshot')} of nodes`)
  return fleet
}
