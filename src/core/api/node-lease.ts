import type { Lease } from '../model/objects.ts'
import { LEASES } from '../model/resources.ts'
import { unlessRefused } from './api-error.ts'
import type { KubeClient } from './kube-client.ts'
import { getObject } from './received-objects.ts'

const NAMESPACE = 'kube-node-lease'

/**
 * By what a kubelet last said that it lives (S11, S29), with the first credential that may ask: a kubelet's own may.
 *
 * @returns undefined where there is none, or neither credential is told
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
    // Only in its stead: whether its files are still there is the second look's to say (S2).
    kubeletClient === undefined ? undefined : ask(kubeletClient).catch(() => undefined),
  ])
  return mine ?? its
}
