/** What `volctl on` asks the API server for: may it, the Node, and one Pod with its log. */
import { mayI, type ResourceAttributes } from '../api/access-reviews.ts'
import { ApiError } from '../api/api-error.ts'
import type { KubeClient, PodClient } from '../api/kube-client.ts'
import { received } from '../api/received-objects.ts'
import { VolctlError } from '../errors/errors.ts'
import { kept, needed, type ShapeOf, text } from '../json/shape.ts'
import { NODES, objectPath, PODS } from '../model/resources.ts'
import { type NodeToRunOn, nodeShape } from './node-fit.ts'
import { CONTAINER, RUN_LABELS } from './pod-manifest.ts'
import { podStatus } from './pod-state.ts'

export interface PodKey {
  readonly namespace: string
  readonly name: string
}

const podShape = kept({
  metadata: needed(kept({ name: needed(text), uid: text, creationTimestamp: text, deletionTimestamp: text })),
  spec: kept({ nodeName: text }),
  status: podStatus,
})

export interface RunPod extends ShapeOf<typeof podShape> {}

const NEEDED: readonly Omit<ResourceAttributes, 'namespace'>[] = [
  { verb: 'create', resource: 'pods' },
  { verb: 'get', resource: 'pods' },
  { verb: 'get', resource: 'pods', subresource: 'log' },
  { verb: 'delete', resource: 'pods' },
]

/** @throws VolctlError Forbidden, naming every right that is missing */
export async function requireRights(client: KubeClient, namespace: string, signal?: AbortSignal): Promise<void> {
  const answers = await Promise.all(NEEDED.map((right) => mayI(client, { group: '', namespace, ...right }, signal)))
  const missing = NEEDED.filter((_, index) => answers[index] === false)
  if (missing.length === 0) return
  const names = missing.map(({ verb, resource, subresource }) =>
    [verb, [resource, ...(subresource === undefined ? [] : [subresource])].join('/')].join(' '),
  )
  throw new VolctlError(
    'Forbidden',
    `${client.server}: the identity in ${client.source} may not ${names.join(', ')} in the namespace ${namespace}`,
    {
      hint: 'Bind deploy/clusterrole-on.yaml to it, or choose another credential with --kubeconfig or --context before the name of the node.',
    },
  )
}

/** @throws VolctlError NotFound */
export async function readNode(client: KubeClient, name: string, signal?: AbortSignal): Promise<NodeToRunOn> {
  const path = objectPath(NODES, { name })
  try {
    return received(nodeShape, await client.get(path, { signal }), { client, request: `GET ${path}` })
  } catch (error) {
    if (!(error instanceof ApiError) || !error.isAbsent) throw error
    throw new VolctlError('NotFound', `The API server ${client.server} has no node "${name}".`, {
      cause: error,
      hint: 'The nodes of this cluster: kubectl get nodes',
    })
  }
}

/**
 * Pods of other runs on this node, of persons who are at work or whose run was killed; one that is being deleted does not count. Empty
 * where they may not be listed.
 */
export async function otherRuns(
  client: KubeClient,
  namespace: string,
  node: string,
  signal?: AbortSignal,
): Promise<readonly RunPod[]> {
  const labels = Object.entries(RUN_LABELS).map(([key, value]) => `${key}=${value}`)
  const path = `${PODS.root}/namespaces/${encodeURIComponent(namespace)}/${PODS.plural}`
  const query = { labelSelector: labels.join(','), fieldSelector: `spec.nodeName=${node}` }
  try {
    const { items } = await client.list(path, { query, signal })
    const pods = items.map((item) => received(podShape, item, { client, request: `GET ${path}` }))
    return pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return []
    throw error
  }
}

/** @throws VolctlError PodNotStarted */
export async function createPod(
  client: PodClient,
  namespace: string,
  manifest: object,
  signal?: AbortSignal,
): Promise<RunPod> {
  const path = `${PODS.root}/namespaces/${encodeURIComponent(namespace)}/${PODS.plural}`
  try {
    return received(podShape, await client.create(path, manifest, { signal }), { client, request: `POST ${path}` })
  } catch (error) {
    if (error instanceof ApiError && [400, 403, 404, 409, 422].includes(error.status)) throw notAdmitted(error)
    throw error
  }
}

/** The API server refused the Pod: there is none. */
export class NotAdmitted extends VolctlError {
  constructor(cause: ApiError, hint: string) {
    super('PodNotStarted', `the Pod is not admitted: ${cause.message}`, { cause, hint })
  }
}

/** The words of the server, without its address: `pods "x" is forbidden: violates PodSecurity "baseline:latest": …`. */
function notAdmitted(error: ApiError): NotAdmitted {
  const security = /violates PodSecurity "[^"]*"/.test(error.message)
  return new NotAdmitted(
    error,
    security
      ? 'Choose a namespace that admits privileged Pods, such as kube-system: --pod-namespace NAME before the name of the node.'
      : 'Choose another namespace with --pod-namespace before the name of the node, or log in to the node.',
  )
}

/** Undefined: the API shows that there is none. */
export async function readPod(client: KubeClient, key: PodKey, signal?: AbortSignal): Promise<RunPod | undefined> {
  const path = objectPath(PODS, key)
  try {
    return received(podShape, await client.get(path, { signal }), { client, request: `GET ${path}` })
  } catch (error) {
    if (error instanceof ApiError && error.isAbsent) return undefined
    throw error
  }
}

/** @param graceSeconds how long volctl in the Pod may go on after SIGTERM; undefined: as the Pod says */
export async function deletePod(
  client: KubeClient,
  key: PodKey,
  { uid, graceSeconds, signal }: { uid?: string | undefined; graceSeconds?: number; signal: AbortSignal },
): Promise<void> {
  const body = {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    ...(graceSeconds !== undefined && { gracePeriodSeconds: graceSeconds }),
    ...(uid !== undefined && { preconditions: { uid } }),
  }
  try {
    await client.delete(objectPath(PODS, key), body, { signal })
  } catch (error) {
    // Deleted by somebody else; or another Pod has the name, which is not ours.
    if (!(error instanceof ApiError) || !(error.isAbsent || error.status === 409)) throw error
  }
}

/** The log from its beginning, until the container ends. */
export function followLog(client: PodClient, key: PodKey, signal: AbortSignal): AsyncIterable<Buffer> {
  return client.follow(`${objectPath(PODS, key)}/log`, { query: { follow: 'true', container: CONTAINER }, signal })
}
