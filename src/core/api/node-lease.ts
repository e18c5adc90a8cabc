import type { Lease } from '../model/objects.ts'
import { LEASES } from '../model/resources.ts'
import { unlessRefused } from './api-error.ts'
import type { KubeClient } from './kube-client.ts'
import { getObject } from './received-objects.ts'

const NAMESPACE = 'kube-node-lease'

/**
 * The node's lease, by which a kubelet shows that it runs (S11, S29), read with the first credential that is allowed to; a
 * kubelet's own is.
 *
 * @returns undefined if there is no lease, or neither credential may read it
 */
export async function nodeLease(
  client: KubeClient,
  kubeletClient: KubeClient | undefined,
  nodeName: string,
  signal?: AbortSignal,
): Promise<Lease | undefined> {
  const key = { namespace: NAMESPACE, name: nodeName }
  const ask = (by: KubeClient): Promise<Lease | undefined> => unlessRefused(getObject(by, LEASES, key, { signal }))
  const [mine, its] = await Promise.all([
    ask(client),
    // A failure is ignored here: the second look reports if the kubelet's files are missing (S2).
    kubeletClient === undefined ? undefined : ask(kubeletClient).catch(() => undefined),
  ])
  return mine ?? its
}
