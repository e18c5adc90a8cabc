import type { ClusterState } from './cluster-state.ts'

/** By the UID of kube-system; by the address where one of both does not have it. */
export function isSameCluster(
  { clusterUID, server }: Pick<ClusterState, 'clusterUID' | 'server'>,
  cluster: { readonly uid?: string; readonly server: string },
): boolean {
  return cluster.uid === undefined || clusterUID === undefined ? cluster.server === server : cluster.uid === clusterUID
}
