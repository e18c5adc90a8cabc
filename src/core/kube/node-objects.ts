import { setTimeout as sleep } from 'node:timers/promises'
import { SafetyRefusal } from '../base/errors.ts'
import type { ApiSnapshot } from '../facts/actual/snapshot.ts'
import type { Budget } from '../trust/bytes.ts'
import type { Lease, Node, Pod } from './api/objects.ts'
import { LEASES, NODES, PODS } from './api/resources.ts'
import { ApiError, unlessRefused, unusable } from './api-error.ts'
import type { KubeClient, ObjectList } from './kube-client.ts'
import { getObject, listObjects } from './objects.ts'

/**
 * The pods of a node: a consistent read by field selector (S2, N46, N47). An answer with another node's pods, or with pods
 * without a UID, is refused.
 */
export async function listNodePods(
  client: KubeClient,
  nodeName: string,
  signal?: AbortSignal,
  kept?: Budget,
): Promise<ObjectList<Pod>> {
  const query = { fieldSelector: `spec.nodeName=${nodeName}` }
  const list = await listObjects(client, PODS, { query, signal, kept })
  for (const pod of list.items) {
    const { uid } = pod.metadata
    if (typeof uid !== 'string' || uid === '' || pod.spec?.nodeName !== nodeName) {
      const message = `${client.server}: the list of ${nodeName}'s pods contains a pod of another node or without a UID.`
      throw unusable(message, 'Check whether a proxy in between drops the field selector.')
    }
  }
  return list
}

/** The Node object by name. A Node that does not exist is refused (S1); other failures are ApiErrors. */
export async function getNode(client: KubeClient, nodeName: string, signal?: AbortSignal): Promise<Node> {
  try {
    return await getObject(client, NODES, { name: nodeName }, { signal })
  } catch (error) {
    if (error instanceof ApiError && error.isAbsent) {
      throw new SafetyRefusal('S1', 'WrongMachine', `The API server ${client.server} has no node "${nodeName}".`, {
        cause: error,
        hint: "Check that this is the right cluster; give the node's name with --node, or the cluster's kubeconfig with --kubeconfig.",
      })
    }
    throw error
  }
}

const TRIES = 3
const PAUSE_MS = 300

export interface CheckedPods {
  readonly list: ObjectList<Pod>
  readonly check?: ApiSnapshot['podListCheck']
}

/**
 * Compares the pod list with the one that the kubelet's own credential gets: a proxy or a narrowed role can hide pods with
 * HTTP 200 (S2). Pods come and go between two reads, so both lists are read again before a difference counts.
 */
export async function checkedPods(
  client: KubeClient,
  kubelet: KubeClient,
  nodeName: string,
  first: readonly [ObjectList<Pod>, ObjectList<Pod>],
  signal?: AbortSignal,
): Promise<CheckedPods> {
  let [mine, its] = first
  for (let tries = 1; ; tries++) {
    const difference = differingUids(mine.items, its.items)
    if (difference.length === 0) return { list: mine, check: checkBy(kubelet) }
    if (tries === TRIES) {
      // One of them does not see all, or asks another cluster.
      throw new SafetyRefusal(
        'S2',
        'PodListIncomplete',
        `${client.source} shows ${mine.items.length} pods of ${nodeName}, the kubelet's credential ${its.items.length}; in one list only: ${difference.slice(0, 5).join(', ')}.`,
        {
          hint: "Both must show all pods of the same cluster. Use the kubelet's kubeconfig, or a credential that may list every pod.",
        },
      )
    }
    await sleep(PAUSE_MS, undefined, { ...(signal && { signal }) })
    ;[mine, its] = await Promise.all([listNodePods(client, nodeName, signal), listNodePods(kubelet, nodeName, signal)])
  }
}

/** Describes a second look: its credential, and whether anyone on the network path could have answered it. */
export function checkBy({ source, insecure }: KubeClient): NonNullable<ApiSnapshot['podListCheck']> {
  return { source, ...(insecure && { insecure }) }
}

function differingUids(a: readonly Pod[], b: readonly Pod[]): string[] {
  const uids = (pods: readonly Pod[]): Set<string> => new Set(pods.map((pod) => pod.metadata.uid))
  const [left, right] = [uids(a), uids(b)]
  return [...left, ...right].filter((uid) => !left.has(uid) || !right.has(uid)).sort()
}

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
