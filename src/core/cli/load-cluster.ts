/** One look at a cluster: live, or in a snapshot. */

import type { ClusterState } from '../cluster/model/cluster-state.ts'
import { readCluster } from '../cluster/read/read-cluster.ts'
import { createKubeClient, type KubeClient } from '../kube/kube-client.ts'
import { discoverKubeConfig } from '../kube/kubeconfig/kube-config.ts'
import { watched } from './live-node.ts'
import { nodeChoice, type PlaceFlagValues } from './options.ts'

/**
 * @param flags of them only the kubeconfig and its context, and a snapshot: a file, or "-"
 * @throws VolctlError if no server answers, or the file is no cluster snapshot
 */
export async function loadCluster(flags: PlaceFlagValues, log: (line: string) => void): Promise<ClusterState> {
  const { snapshot } = flags
  if (snapshot !== undefined) {
    const { readClusterSnapshot } = await import('../cluster/read/cluster-snapshot.ts')
    const state = await readClusterSnapshot(snapshot)
    log(`snapshot ${snapshot} of ${state.server}, taken at ${state.capturedAt}`)
    return state
  }
  const client = apiClient(flags, log)
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

/** Of the API server that --kubeconfig and --context mean, or of the usual places. @param log says what was tried */
export function apiClient(flags: PlaceFlagValues, log: (line: string) => void): KubeClient {
  const { kubeconfig, context } = nodeChoice(flags)
  return createKubeClient(
    discoverKubeConfig({
      kubeconfig,
      context,
      onAttempt: ({ source, problem = 'used' }) => log(`${source}: ${problem}`),
    }),
  )
}
