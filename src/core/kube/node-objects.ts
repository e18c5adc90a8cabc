import { SafetyRefusal } from '../base/errors.ts'
import type { Budget } from '../trust/bytes.ts'
import type { Lease, Node, Pod } from './api/objects.ts'
import { LEASES, NODES, PODS } from './api/resources.ts'
import { orInstead, unlessRefused, unusable } from './api-error.ts'
import type { KubeClient, ObjectList, RequestSettings } from './kube-client.ts'

/**
 * The pods of a node: a consistent read by field selector (S2, N46, N47). An answer with another node's pods, or with pods
 * without a UID, is refused.
 */
export async function listNodePods(
  client: KubeClient,
  nodeName: string,
  settings?: RequestSettings,
): Promise<ObjectList<Pod>> {
  const query = { fieldSelector: `spec.nodeName=${nodeName}` }
  const list = await client.list(PODS, { ...settings, query })
  for (const pod of list.items) {
    const { uid } = pod.metadata
    if (typeof uid !== 'string' || uid === '' || pod.spec?.nodeName !== nodeName) {
      const message = `${client.server}: the list of ${nodeName}'s pods contains a pod of another node or without a UID.`
      throw unusable(message, 'Check whether a proxy in between drops the field selector.')
    }
  }
  return list
}

/** The pods of a node: by the credential in use, and by the kubelet's own for a second look. */
export type PodLists = readonly [Promise<ObjectList<Pod>>, Promise<ObjectList<Pod>> | undefined]

/** The credentials of a look at a node. */
export interface Asking {
  readonly client: KubeClient
  /** Has the kubelet's own credential, if that is readable and not the one in use: for a second look (S2). */
  readonly kubeletClient?: KubeClient
  readonly nodeName: string
}

type Query = Asking & Pick<RequestSettings, 'signal'>

export function podLists({ client, kubeletClient, nodeName, signal }: Query, kept?: Budget): PodLists {
  const list = (by: KubeClient): Promise<ObjectList<Pod>> => listNodePods(by, nodeName, { signal, kept })
  return [list(client), kubeletClient && list(kubeletClient)]
}

/** The Node object by name. A Node that does not exist is refused (S1); other failures are ApiErrors. */
export function getNode(client: KubeClient, nodeName: string, signal?: AbortSignal): Promise<Node> {
  return orInstead(client.get(NODES, { name: nodeName }, { signal }), (error) => {
    if (!error.isAbsent) throw error
    throw new SafetyRefusal('S1', 'WrongMachine', `The API server ${client.server} has no node "${nodeName}".`, {
      cause: error,
      hint: "Check that this is the right cluster; give the node's name with --node, or the cluster's kubeconfig with --kubeconfig.",
    })
  })
}

const NAMESPACE = 'kube-node-lease'

/**
 * The node's lease, by which a kubelet shows that it runs (S11, S29), read with the first credential that is allowed to; a
 * kubelet's own is.
 *
 * @returns undefined if there is no lease, or neither credential may read it
 */
export async function nodeLease({ client, kubeletClient, nodeName, signal }: Query): Promise<Lease | undefined> {
  const key = { namespace: NAMESPACE, name: nodeName }
  const ask = (by: KubeClient): Promise<Lease | undefined> => unlessRefused(by.get(LEASES, key, { signal }))
  const [mine, its] = await Promise.all([
    ask(client),
    // A failure is ignored here: the second look reports if the kubelet's files are missing (S2).
    kubeletClient && ask(kubeletClient).catch(() => undefined),
  ])
  return mine ?? its
}
