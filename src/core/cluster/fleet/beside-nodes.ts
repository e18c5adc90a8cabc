/** What snapshots of nodes show of each volume on each node, for a status. */
import type { ClusterContext } from '../context/cluster-context.ts'
import { planOver } from '../pass/plan-cluster.ts'
import type { BesideNodes } from '../status/cluster-status.ts'
import { JoinedFleet } from './join-fleet.ts'
import type { FleetLedger } from './read-fleet.ts'
import { withFleet } from './with-fleet.ts'

/** @param context not narrowed: what a status leaves out is no part of it */
export function besideNodes(context: ClusterContext, fleet: FleetLedger): BesideNodes {
  const joined = new JoinedFleet(context, fleet)
  return {
    plan: withFleet(planOver(context), context, fleet, joined),
    row: (node, uniqueName) => joined.row(node, uniqueName),
  }
}
