/** What the API server says, part by part: each refusal is a fact. */
import { askWhoIAm, mayI } from '../../api/access-reviews.ts'
import { createKubeClient, type KubeClient } from '../../api/kube-client.ts'
import { type DiscoverOptions, discoverKubeConfig, discoverKubeletConfig } from '../../api/kubeconfig/kube-config.ts'
import { getNode, listNodePods } from '../../api/node-objects.ts'
import { readApi } from '../../api/read-api.ts'
import { referencedObjects } from '../../api/referenced-objects.ts'
import { defined } from '../../lang/defined.ts'
import type { Pod } from '../../model/objects.ts'
import type { ObjectKey } from '../../model/resources.ts'
import type { ApiSnapshot } from '../../model/snapshot.ts'
import { NODE_USER } from '../../names/volume-names.ts'
import type { LocatedNode } from '../../node/locate-node.ts'
import type { ApiFacts, Failure, Right, RightAnswer, Source } from '../facts.ts'
import { type Attempt, attempt, resultOf } from './attempt.ts'

/** For one request: a person waits. */
const REQUEST_MS = 10_000
/** For everything together. */
const ALL_MS = 60_000

export interface ApiChoice {
  readonly kubeconfig?: string | undefined
  readonly context?: string | undefined
  readonly log?: (line: string) => void
}

export interface GatheredApi {
  readonly api?: ApiSnapshot
  readonly facts: ApiFacts
  readonly failures: Partial<Record<Source, Failure>>
}

/** @param node absent: it is not known which node this is, so that only the credential can be asked about */
export async function gatherApi(
  choice: ApiChoice,
  node: Pick<LocatedNode, 'nodeName' | 'kubelet' | 'places'> | undefined,
): Promise<GatheredApi> {
  const places = placesOf(choice, node)
  const kubeconfig = choice.kubeconfig ?? node?.places?.kubeconfig
  const found = await attempt(() => discoverKubeConfig({ ...places, kubeconfig, context: choice.context }))
  if (found.failure !== undefined) return { facts: { rights: [] }, failures: { credential: found.failure } }
  const credentials = found.value
  const client = createKubeClient(credentials, { deadlineMs: REQUEST_MS })
  const isOnly = credentials.kind === 'kubelet' || node?.places !== undefined
  const second = isOnly ? {} : (resultOf(await attempt(() => discoverKubeletConfig(places))) ?? {})
  const kubeletClient = second.credentials && createKubeClient(second.credentials, { deadlineMs: REQUEST_MS })
  try {
    const asked = await ask({ client, kubeletClient, kubeletUnused: second.unused, nodeName: node?.nodeName })
    const { source, server, insecure } = client
    const kubelet = second.unused ?? (kubeletClient && { source: kubeletClient.source })
    const credential = { source, server, ...defined({ insecure }) }
    return { ...asked, facts: { ...asked.facts, credential, ...defined({ kubelet }) } }
  } finally {
    client.close()
    kubeletClient?.close()
  }
}

type Places = Pick<DiscoverOptions, 'kubeletKubeconfig' | 'onAttempt'>

/** Where credentials are looked for besides the usual places. */
function placesOf({ log }: ApiChoice, node: Pick<LocatedNode, 'kubelet'> | undefined): Places {
  return {
    kubeletKubeconfig: node?.kubelet?.kubeconfig,
    onAttempt: ({ source, problem }) => log?.(`credential ${source}: ${problem ?? 'used'}`),
  }
}

interface Clients {
  readonly client: KubeClient
  readonly kubeletClient: KubeClient | undefined
  readonly kubeletUnused: { readonly source: string; readonly problem: string } | undefined
  readonly nodeName: string | undefined
}

/** Failures after which no other question is answered either. */
const NO_USE: ReadonlySet<Failure['is']> = new Set(['silence', 'tls', 'unauthorized'] as const)

async function ask(clients: Clients): Promise<GatheredApi> {
  const { client, nodeName } = clients
  const signal = AbortSignal.timeout(ALL_MS)
  const who = await attempt(() => askWhoIAm(client, signal))
  const { failure: server } = who
  if (NO_USE.has(server?.is)) return { facts: { rights: [] }, failures: defined({ server }) }
  const user = resultOf(who)
  const look = nodeName === undefined ? undefined : await lookAtNode(clients, nodeName, signal)
  const api = look?.api
  const needed = neededRights(nodeName ?? '', api?.pods ?? [], user?.startsWith(NODE_USER) ?? false)
  const rights = await Promise.all(
    needed.map(async (right): Promise<RightAnswer> => {
      const { purpose: _, required: __, ...attributes } = right
      const allowed = resultOf(await attempt(() => mayI(client, attributes, signal)))
      return { right, ...defined({ allowed }) }
    }),
  )
  return {
    ...defined({ api }),
    facts: { rights, ...defined({ user }) },
    failures: { ...defined({ server }), ...look?.failures },
  }
}

async function lookAtNode(
  { client, kubeletClient, kubeletUnused }: Clients,
  nodeName: string,
  signal: AbortSignal,
): Promise<Pick<GatheredApi, 'api' | 'failures'>> {
  const whole = await attempt(() => readApi({ client, nodeName, kubeletClient, kubeletUnused, signal }))
  if (whole.failure === undefined) return { api: whole.value, failures: {} }
  const { failure } = whole
  if (failure.is === 'podListsDisagree') return { failures: { api: failure, kubeletPods: failure } }
  // Which of its parts it was.
  const [pods, kubeletPods, nodeObject] = await Promise.all([
    attempt(() => listNodePods(client, nodeName, signal)),
    kubeletClient === undefined ? NOTHING : attempt(() => listNodePods(kubeletClient, nodeName, signal)),
    attempt(() => getNode(client, nodeName, signal)),
  ])
  return {
    failures: {
      api: failure,
      ...defined({ pods: pods.failure, kubeletPods: kubeletPods.failure, nodeObject: nodeObject.failure }),
    },
  }
}

const NOTHING: Attempt<undefined> = { value: undefined }

const LIST_PODS: Right = { purpose: 'plan', required: true, verb: 'list', resource: 'pods' }
const STORAGE = 'storage.k8s.io'

/**
 * @param isNode the identity of a kubelet, which is never asked about lists: the API server confines it to the objects that the pods of
 * its node use (N29), so that only these are asked about
 */
function neededRights(nodeName: string, pods: readonly Pod[], isNode: boolean): readonly Right[] {
  const common: Right[] = [
    { purpose: 'plan', required: true, verb: 'get', resource: 'nodes', name: nodeName },
    { purpose: 'plan', verb: 'get', group: STORAGE, resource: 'csinodes', name: nodeName },
    { purpose: 'plan', verb: 'list', group: STORAGE, resource: 'csidrivers' },
    {
      ...{ purpose: 'plan', verb: 'get', group: 'coordination.k8s.io', resource: 'leases' },
      ...{ namespace: 'kube-node-lease', name: nodeName },
    },
    { purpose: 'DetachVolume', verb: 'delete', group: STORAGE, resource: 'volumeattachments' },
  ]
  return isNode ? [...common, ...rightsOfNode(pods)] : [LIST_PODS, ...common, ...rightsOfOthers()]
}

function rightsOfOthers(): Right[] {
  return [
    { purpose: 'plan', verb: 'list', resource: 'nodes' },
    { purpose: 'plan', verb: 'list', resource: 'persistentvolumeclaims' },
    { purpose: 'plan', verb: 'list', resource: 'persistentvolumes' },
    { purpose: 'plan', verb: 'list', group: STORAGE, resource: 'volumeattachments' },
    { purpose: 'DetachVolume', verb: 'get', group: STORAGE, resource: 'volumeattachments' },
    { purpose: 'MountVolume', verb: 'get', resource: 'pods' },
    { purpose: 'MountVolume', verb: 'get', resource: 'configmaps' },
    { purpose: 'MountVolume', verb: 'get', resource: 'secrets' },
    { purpose: 'MountVolume', verb: 'create', resource: 'serviceaccounts', subresource: 'token' },
    { purpose: 'ExpandVolume', verb: 'patch', resource: 'persistentvolumeclaims', subresource: 'status' },
  ]
}

/** One object of each kind stands for all of the kind. */
function rightsOfNode(pods: readonly Pod[]): Right[] {
  const { claims, configMaps, secrets } = referencedObjects(pods)
  const [claim] = claims
  const [pod] = pods
  const namespace = pod?.metadata.namespace ?? 'default'
  const account = (pod?.spec as { readonly serviceAccountName?: string } | undefined)?.serviceAccountName
  return [
    ...ofOne(claim, { purpose: 'plan', verb: 'get', resource: 'persistentvolumeclaims' }),
    ...ofOne(configMaps[0], { purpose: 'MountVolume', verb: 'get', resource: 'configmaps' }),
    ...ofOne(secrets[0], { purpose: 'MountVolume', verb: 'get', resource: 'secrets' }),
    ...ofOne(account === undefined ? undefined : { namespace, name: account }, {
      ...{ purpose: 'MountVolume', verb: 'create', resource: 'serviceaccounts', subresource: 'token' },
    }),
    ...ofOne(claim, {
      purpose: 'ExpandVolume',
      verb: 'patch',
      resource: 'persistentvolumeclaims',
      subresource: 'status',
    }),
  ]
}

function ofOne(key: ObjectKey | undefined, right: Right): Right[] {
  if (key === undefined) return []
  return [{ ...right, name: key.name, ...(key.namespace !== undefined && { namespace: key.namespace }) }]
}
