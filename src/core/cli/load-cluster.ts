/** One look at a cluster: live, or in a snapshot. */
import type { ClusterState } from '../cluster/model/cluster-state.ts'
import { readCluster } from '../cluster/read/read-cluster.ts'
import { apiClient } from './api-client.ts'
import { watched } from './live-node.ts'
import type { NodeChoice } from './node-flags.ts'

/**
 * @param choice of it only the kubeconfig and its context
 * @param snapshot a file, or "-"
 * @throws VolctlError if no server answers, or the file is no cluster snapshot
 */
export async function loadCluster(
  choice: Pick<NodeChoice, 'kubeconfig' | 'context'>,
  snapshot: string | undefined,
  log: (line: string) => void,
): Promise<ClusterState> {
  if (snapshot !== undefined) {
    const { readClusterSnapshot } = await import('../cluster/snapshot/cluster-snapshot.ts')
    const state = await readClusterSnapshot(snapshot)
    log(`snapshot ${snapshot} of ${state.server}, taken at ${state.capturedAt}`)
    return state
  }
  const client = apiClient(choice, log)
  try {
    const state = await watched(log, (_, reads) => {
      reads('the cluster')
      return readCluster({ client, onProgress: (resource, objects) => reads(`the cluster, ${objects} ${resource}`) })
    })
    for (const [resource, { state: seen, count }] of Object.entries(state.lists))
      log(seen === 'failed' ? `${resource} could not be read` : `read ${count} ${resource}`)
    return state
  } finally {
    client.close()
  }
}
