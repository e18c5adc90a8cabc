/** What snapshots of nodes show of each volume on each node, for a status. */
import type { ClusterOptions } from '../../plan/cluster-plan.ts'
import { clusterContext } from '../context/cluster-context.ts'
import type { ClusterState } from '../model/cluster-state.ts'
import { planOver } from '../pass/plan-cluster.ts'
import { type BesideNodes, unnarrowed } from '../status/cluster-status.ts'
import { JoinedFleet } from './join-fleet.ts'
import type { FleetLedger } from './read-fleet.ts'
import { withFleet } from './with-fleet.ts'

/** @param options those of the status: what they narrow is no part of it */
export function besideNodes(state: ClusterState, options: ClusterOptions, fleet: FleetLedger): BesideNodes {
  const whole = unnarrowed(options)
  const context = clusterContext(state, whole)
  const joined = new JoinedFleet(context, fleet)
  return {
    plan: withFleet(planOver(context), context, fleet),
    row: (node, uniqueName) => joined.row(node, uniqueName),
  }
}
