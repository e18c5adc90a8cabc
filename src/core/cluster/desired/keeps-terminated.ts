/** Which nodes keep the volumes of pods that have ended attached (R710). */
import type { ClusterNode, ClusterState } from '../model/cluster-state.ts'

/** Kubernetes 1.31 removed the kubelet's --keep-terminated-pod-volumes, and the controller's look at the annotation. */
const REMOVED_IN_MINOR = 31

/** Does this cluster's controller honour the annotation? A version that is not known may (S3). */
export function honoursKeepTerminated({ serverVersion }: Pick<ClusterState, 'serverVersion'>): boolean {
  const found = /^v?(\d+)\.(\d+)/.exec(serverVersion ?? '')
  if (found === null) return true
  return Number(found[1]) === 1 && Number(found[2]) < REMOVED_IN_MINOR
}

export function keepsTerminated(node: ClusterNode | undefined, state: Pick<ClusterState, 'serverVersion'>): boolean {
  return node?.keepsTerminated === true && honoursKeepTerminated(state)
}
