import {
  type ApiObject,
  ATTACHMENTS,
  CLAIMS,
  type ClusterTrustBundle,
  CONFIG_MAPS,
  LEASES,
  type Lease,
  NODES,
  type Node,
  PODS,
  type Pod,
  type ProjectedSource,
  type Resource,
  SECRETS,
  trustBundleShape,
  type VolumeAttachment,
} from '../../kube/api/objects.ts'
import { objectPath } from '../../kube/api/resources.ts'
import { badAnswer, orInstead, unlessAbsent, unlessRefused, unusable } from '../../kube/api-error.ts'
import type { KubeClient, ObjectList, RequestSettings } from '../../kube/kube-client.ts'
import {
  type AttachmentVersion,
  type ClaimStatusPatch,
  deleteVolumeAttachment,
  patchClaimStatus,
} from '../../kube/writes.ts'
import { SafetyRefusal, said, VolctlError } from '../../messages/findings.ts'
import type { Budget } from '../../trust/bytes.ts'
import { kept, text } from '../../trust/shape.ts'
import { onDiskUid, podNamespace } from '../../volumes/pods.ts'

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
    if (pod.metadata.uid === '' || pod.spec.nodeName !== nodeName) {
      const otherPods = said('ApiFailed.otherPods', { server: client.server, nodeName })
      throw unusable(otherPods, 'Check whether a proxy in between drops the field selector.')
    }
  }
  return list
}

/** The pods of a node: by the credential in use, and by the kubelet's own for a second look. */
export type PodLists = readonly [Promise<ObjectList<Pod>>, Promise<ObjectList<Pod>> | undefined]

/** The credentials of a look at a node. */
export interface NodeCredentials {
  readonly client: KubeClient
  /** Has the kubelet's own credential, if that is readable and not the one in use: for a second look (S2). */
  readonly kubeletClient?: KubeClient
  readonly nodeName: string
}

type Query = NodeCredentials & Pick<RequestSettings, 'signal'>

export function podLists({ client, kubeletClient, nodeName, signal }: Query, kept?: Budget): PodLists {
  const list = (by: KubeClient): Promise<ObjectList<Pod>> => listNodePods(by, nodeName, { signal, kept })
  return [list(client), kubeletClient && list(kubeletClient)]
}

/** The Node object by name. A Node that does not exist is refused (S1); other failures are ApiErrors. */
export function getNode(client: KubeClient, nodeName: string, signal?: AbortSignal): Promise<Node> {
  return orInstead(client.get(NODES, { name: nodeName }, { signal }), (error) => {
    if (!error.isAbsent) throw error
    throw new SafetyRefusal('S1', said('WrongMachine.noNode', { server: client.server, nodeName }), {
      cause: error,
      hint: "Check that this is the right cluster; give the node's name with --node, or the cluster's kubeconfig with --kubeconfig.",
    })
  })
}

/**
 * The node's lease, by which a kubelet shows that it runs (S11, S29), read with the first credential that is allowed to; a
 * kubelet's own is.
 *
 * @returns undefined if there is no lease, or neither credential may read it
 */
export async function nodeLease({ client, kubeletClient, nodeName, signal }: Query): Promise<Lease | undefined> {
  const key = { namespace: 'kube-node-lease', name: nodeName }
  const ask = (by: KubeClient): Promise<Lease | undefined> => unlessRefused(by.get(LEASES, key, { signal }))
  const [mine, its] = await Promise.all([
    ask(client),
    // A failure is ignored here: the second look reports if the kubelet's files are missing (S2).
    kubeletClient && ask(kubeletClient).catch(() => undefined),
  ])
  return mine ?? its
}

// What an apply asks of the API server about its node, and changes there.

export type Cluster = ReturnType<typeof nodeCluster>

/** The pods of the node as each of the two credentials is shown them, now; `its` is empty where there is one only. */
export async function podsByEach(credentials: NodeCredentials): Promise<Record<'mine' | 'its', readonly Pod[]>> {
  const [mine, its] = await Promise.all(podLists(credentials))
  return { mine: mine.items, its: its?.items ?? [] }
}

/** Undefined only if the server showed that there is no such object (S3); every other failure rejects. */
export function nodeCluster(credentials: NodeCredentials) {
  const { client, nodeName } = credentials
  const find =
    <T extends ApiObject>(resource: Resource<T>, settings?: { readonly whole: true }) =>
    (namespace: string, name: string): Promise<T | undefined> =>
      client.find(resource, { namespace, name }, settings)
  return {
    /** With preconditions; a conflict rejects with status 409 or code `Conflict`. */
    deleteVolumeAttachment: async (
      version: Pick<AttachmentVersion, 'name' | 'uid'> & Partial<AttachmentVersion>,
    ): Promise<void> => {
      const { name, resourceVersion } = version
      if (resourceVersion === undefined) throw new VolctlError(said('Conflict', { name }))
      await deleteVolumeAttachment(client, { ...version, resourceVersion })
    },
    getVolumeAttachment: (name: string) => client.find(ATTACHMENTS, { name }),
    /** Every node's; rejects if the credential may not list them (S30). */
    listVolumeAttachments: async (): Promise<readonly VolumeAttachment[]> => (await client.list(ATTACHMENTS)).items,
    getNode: (): Promise<Node | undefined> => getNode(client, nodeName),
    /** A pod that either of the two credentials is shown may want a volume (S2). */
    listNodePods: async (): Promise<readonly Pod[]> => {
      const { mine, its } = await podsByEach(credentials)
      return [...mine, ...its]
    },
    getClaim: find(CLAIMS),
    /** @returns the patched claim; rejects with status 403 if the credential lacks the right */
    patchClaimStatus: (namespace: string, name: string, patch: ClaimStatusPatch) =>
      patchClaimStatus(client, { namespace, name }, patch),
    /** With all of its annotations. */
    getPod: find(PODS, { whole: true }),
    getConfigMap: find(CONFIG_MAPS),
    /** With its values. */
    getSecret: find(SECRETS),
    /** Undefined: the service account, or the pod, does not exist. */
    requestToken: (pod: Pod, source: TokenSource) => requestToken(client, pod, source),
    /** Undefined: there is none of this name. */
    clusterTrustBundles: (source: BundleSource) => clusterTrustBundles(client, source),
  }
}

// Reads content of volumes, with its values, right before it is written. It is passed on, and never stored or logged.

export type TokenSource = Pick<NonNullable<ProjectedSource['serviceAccountToken']>, 'audience' | 'expirationSeconds'>

const tokenAnswer = kept({
  status: kept({ token: text, expirationTimestamp: text }),
})

/**
 * A token of the pod's service account, bound to the pod (P53), with the time of its end, in RFC 3339.
 *
 * @returns undefined if the service account, or the pod, is shown not to exist
 */
export async function requestToken(client: KubeClient, pod: Pod, { audience, expirationSeconds }: TokenSource) {
  const key = { namespace: podNamespace(pod), name: pod.spec.serviceAccountName ?? '' }
  const path = `${objectPath({ plural: 'serviceaccounts', root: '/api/v1' }, key)}/token`
  const body = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {
      // Without one, the API server's own.
      ...(audience && { audiences: [audience] }),
      expirationSeconds,
      boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: pod.metadata.name, uid: onDiskUid(pod) },
    },
  }
  // Every answer is a new token, and nothing is stored, so the request may be repeated.
  const given = await unlessAbsent(client.send('review', { path, shape: tokenAnswer, body }))
  if (given === undefined) return undefined
  const { status } = given
  const { token, expirationTimestamp = '' } = status ?? {}
  if (token) return { token, expirationTimestamp }
  throw badAnswer(client.server, `POST ${path}`, 'a TokenRequest without a token')
}

type BundleSource = Pick<NonNullable<ProjectedSource['clusterTrustBundle']>, 'name' | 'signerName'>

type Bundles = readonly ClusterTrustBundle[] | undefined

const VERSIONS = ['v1', 'v1beta1', 'v1alpha1']

/** That of a name, or those of a signer, in the newest version that the server has: where it lacks one, its 404 names no object (N71). */
export async function clusterTrustBundles(
  client: KubeClient,
  source: BundleSource,
  [newest, ...older] = VERSIONS,
): Promise<Bundles> {
  const { name, signerName } = source
  if (!name && !signerName) return []
  const bundles = {
    plural: 'clustertrustbundles',
    shape: trustBundleShape,
    root: `/apis/certificates.k8s.io/${newest}`,
  }
  const query = { fieldSelector: `spec.signerName=${signerName}` }
  const asked = name
    ? client.find(bundles, { name }).then((bundle) => bundle && [bundle])
    : client.list(bundles, { query }).then(({ items }) => items)
  return orInstead<Bundles, Bundles>(asked, (error) => {
    if (older.length === 0 || error.reason !== 'NoSuchResource') throw error
    return clusterTrustBundles(client, source, older)
  })
}
