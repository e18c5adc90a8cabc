/** The pass over a cluster, and its plan in a few words. */
import type { ClusterState } from '../../src/core/cluster/model/cluster-state.ts'
import { planCluster } from '../../src/core/cluster/pass/plan-cluster.ts'
import type { ClusterOptions, ClusterPlan } from '../../src/core/plan/cluster-plan.ts'
import { clusterOptions } from './cluster-builder.ts'

export function planOf(state: ClusterState, options: Partial<ClusterOptions> = {}): ClusterPlan {
  return planCluster(state, clusterOptions(options))
}

/** `DetachVolume a`, `DetachVolume a MachineMayWrite`: with the node, and what blocks it. */
export function operationsOf({ operations }: ClusterPlan): string[] {
  return operations.map(
    ({ kind, node, blocked }) => `${kind} ${node}${blocked === undefined ? '' : ` ${blocked.code}`}`,
  )
}

/** `StillInUse a` */
export function waitsOf({ waiting }: ClusterPlan): string[] {
  return waiting.map(({ code, node }) => `${code} ${node}`)
}
