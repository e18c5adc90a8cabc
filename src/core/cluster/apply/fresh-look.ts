/**
 * What an operation rests on, read again in the same second (S26): laid over the look at the whole cluster from the beginning of the
 * apply. Only what could change the verdict about this one volume is read:
 *
 * - the controller's lease, the Node with its lease and CSINode, the attachment, its PersistentVolume and that one's claim;
 * - for a detach, a consistent list of the pods of its node: no other pod can want the volume there;
 * - for an attach, also all pods of the namespaces of its pods, where every pod with the same claim is, and all attachments;
 * - claims that these pods name and that were not bound at the beginning, with their PersistentVolumes.
 *
 * Where finalizers are taken off, or a driver is held to be gone, the whole cluster is read: anything in it may be the driver.
 */
import { ApiError } from '../../api/api-error.ts'
import type { KubeClient } from '../../api/kube-client.ts'
import { getObject, received } from '../../api/received-objects.ts'
import { canonicalJson } from '../../json/canonical-json.ts'
import type { Shape } from '../../json/shape.ts'
import { compareText } from '../../lang/compare-text.ts'
import { defined } from '../../lang/defined.ts'
import {
  ATTACHMENTS,
  CLAIMS,
  CSI_NODES,
  LEASES,
  listPath,
  NODES,
  type ObjectKey,
  PODS,
  type Resource,
  VOLUMES,
} from '../../model/resources.ts'
import type { ClusterOperation } from '../../plan/cluster-plan.ts'
import { ClusterObjects } from '../model/cluster-objects.ts'
import type {
  ClusterAttachment,
  ClusterClaim,
  ClusterNode,
  ClusterPod,
  ClusterState,
  ClusterVolume,
} from '../model/cluster-state.ts'
import { csiRecord, leaseRecord, nodeRecord } from '../read/node-records.ts'
import { podRecord } from '../read/pod-record.ts'
import { readCluster } from '../read/read-cluster.ts'
import { type ReceivedCsiNode, receivedPod } from '../read/received.ts'
import { attachmentRecord, claimRecord, volumeRecord } from '../read/volume-records.ts'

const CONTROLLER_LEASE = { namespace: 'kube-system', name: 'kube-controller-manager' }

/**
 * @param base the cluster at the beginning of the apply, or after its last look
 * @throws ApiError if anything of it cannot be read: nothing is done then
 */
export async function lookAgain(
  client: KubeClient,
  base: ClusterState,
  operation: ClusterOperation,
  signal?: AbortSignal,
): Promise<ClusterState> {
  return restsOnDriver(operation)
    ? await lookAtAll(client, base, signal)
    : await lookAtVolume(client, base, operation, signal)
}

/** The same without what a driver's absence rests on: some requests. @throws ApiError */
export async function lookAtVolume(
  client: KubeClient,
  base: ClusterState,
  operation: ClusterOperation,
  signal?: AbortSignal,
): Promise<ClusterState> {
  const reader = new FreshReader(client, signal)
  const { node: name, volume, attachment } = operation
  const isAttach = operation.kind === 'AttachVolume'
  // Pods after the rest, so that no attachment or Node is younger than the pods that want it; and at the very end, who acts.
  const [node, attachments, fresh] = await Promise.all([
    reader.node(name),
    isAttach ? reader.allAttachments() : reader.attachment(attachment.name),
    volume.persistentVolume === undefined ? undefined : reader.volume(volume.persistentVolume, base),
  ])
  const pods = await reader.pods(
    name,
    isAttach ? new Set(operation.pods.flatMap(({ namespace }) => namespace ?? [])) : new Set(),
  )
  const found = await reader.claimsOf(pods, fresh, base)
  const lease = await reader.controllerLease()
  const isStale = ({ node: on, namespace }: ClusterPod): boolean => pods.isAbout(on, namespace)
  const given = new Set(pods.records.map(keyOf))
  return {
    ...base,
    capturedAt: new Date(Date.now() + (client.clockSkewMs ?? 0)).toISOString(),
    controller: controllerEvidence(base, lease),
    nodes: replaced(base.nodes, ({ name: each }) => each === name, node.record),
    ...lostNodes(base, name, node),
    attachments: isAttach
      ? attachments
      : replaced(base.attachments, ({ name: each }) => each === attachment.name, ...attachments),
    pods: [...base.pods.filter((pod) => !isStale(pod) && !given.has(keyOf(pod))), ...pods.records],
    volumes:
      fresh === undefined ? found.volumes.filter(({ name: each }) => each !== volume.persistentVolume) : found.volumes,
    claims: found.claims,
  }
}

/** It is decided on what no node, object or lease says of a driver. */
function restsOnDriver({ reason, steps }: ClusterOperation): boolean {
  return reason === 'DriverRemoved' || steps.some(({ op }) => op === 'removeFinalizers')
}

async function lookAtAll(client: KubeClient, base: ClusterState, signal?: AbortSignal): Promise<ClusterState> {
  const state = await readCluster({ client, ...defined({ signal }) })
  const { leaseAtEnd, lease, ...controller } = state.controller
  return {
    ...state,
    controller: controllerEvidence(base, { ...controller, ...defined({ lease: leaseAtEnd ?? lease }) }),
  }
}

/** Against the lease of the first look: one that was renewed since then shows that a controller lives, whatever the clocks say. */
function controllerEvidence(
  { controller: { lease } }: ClusterState,
  now: ClusterState['controller'],
): ClusterState['controller'] {
  if (now.lease === undefined || lease === undefined) return now
  return { lease, leaseAtEnd: now.lease }
}

interface FreshNode {
  readonly record: ClusterNode | undefined
  readonly leaseRenewTime: string | undefined
}

function lostNodes(
  base: ClusterState,
  name: string,
  { record, leaseRenewTime }: FreshNode,
): Pick<ClusterState, 'lostNodes'> {
  if (base.lostNodes === undefined) return {}
  const others = base.lostNodes.filter((each) => each.name !== name)
  return record === undefined && leaseRenewTime !== undefined
    ? { lostNodes: [...others, { name, leaseRenewTime }] }
    : { lostNodes: others }
}

function keyOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`
}

/** The list with these records in the place of those that match. */
function replaced<T>(list: readonly T[], matches: (each: T) => boolean, ...records: readonly (T | undefined)[]): T[] {
  return [...list.filter((each) => !matches(each)), ...records.filter((each) => each !== undefined)]
}

interface FreshPods {
  readonly records: readonly ClusterPod[]
  /** The lists show every pod of this node or namespace. */
  isAbout(node: string | undefined, namespace: string): boolean
}

class FreshReader {
  readonly #client: KubeClient
  readonly #signal: AbortSignal | undefined

  constructor(client: KubeClient, signal: AbortSignal | undefined) {
    this.#client = client
    this.#signal = signal
  }

  async controllerLease(): Promise<ClusterState['controller']> {
    const lease = await this.#get(LEASES, CONTROLLER_LEASE)
    return lease === undefined ? {} : { lease: leaseRecord(lease) }
  }

  async node(name: string): Promise<FreshNode> {
    const [node, csiNode, lease] = await Promise.all([
      this.#get(NODES, { name }),
      this.#get(CSI_NODES, { name }),
      // Evidence beside other evidence: a right that is missing hides it, as at the first look.
      this.#get(LEASES, { namespace: 'kube-node-lease', name }).catch(unlessApiError),
    ])
    const leaseRenewTime = lease?.spec?.renewTime ?? undefined
    if (node === undefined) return { record: undefined, leaseRenewTime }
    const csi = csiNode === undefined ? { state: 'absent' as const } : csiRecord(csiNode as ReceivedCsiNode)
    return { record: { ...nodeRecord(node), csi, ...defined({ leaseRenewTime }) }, leaseRenewTime }
  }

  async attachment(name: string): Promise<ClusterAttachment[]> {
    const found = await this.#get(ATTACHMENTS, { name })
    return found === undefined ? [] : [attachmentRecord(found)]
  }

  async allAttachments(): Promise<ClusterAttachment[]> {
    return await this.#list(listPath(ATTACHMENTS), ATTACHMENTS.shape, attachmentRecord)
  }

  /** Undefined: it is shown to be absent. */
  async volume(name: string, base: ClusterState): Promise<ClusterVolume | undefined> {
    const found = await this.#get(VOLUMES, { name })
    if (found === undefined) return undefined
    return volumeRecord(found, { podUid: '', lookup: new ClusterObjects(base).lookup, node: null })
  }

  /** Consistent lists: no resourceVersion is asked for (S2). */
  async pods(node: string, namespaces: ReadonlySet<string>): Promise<FreshPods> {
    const ofNode = this.#podsAt(listPath(PODS), { fieldSelector: `spec.nodeName=${node}` })
    const ofNamespaces = [...namespaces].map((each) => this.#podsAt(`${PODS.root}/namespaces/${each}/${PODS.plural}`))
    const lists = await Promise.all([ofNode, ...ofNamespaces])
    const byUid = new Map(lists.flat().map((pod) => [pod.uid, pod]))
    return {
      records: [...byUid.values()],
      isAbout: (on, namespace) => on === node || namespaces.has(namespace),
    }
  }

  #podsAt(path: string, query: Record<string, string> = {}): Promise<ClusterPod[]> {
    return this.#list(path, receivedPod, podRecord, query)
  }

  async #list<Received, Record>(
    path: string,
    shape: Shape<Received>,
    reduce: (object: Received) => Record | undefined,
    query: Readonly<{ [name: string]: string }> = {},
  ): Promise<Record[]> {
    const records: Record[] = []
    const from = { client: this.#client, request: `GET ${path}` }
    await this.#client.walk<Received, Record | undefined>(
      path,
      {
        begin: () => {
          records.length = 0
        },
        take: (object) => reduce(received(shape, object, from)),
        page: (kept) => {
          for (const record of kept) if (record !== undefined) records.push(record)
        },
      },
      { query, signal: this.#signal },
    )
    return records
  }

  /** The volume's own claim, and those of the pods that the first look did not show bound; with their PersistentVolumes. */
  async claimsOf(
    { records }: FreshPods,
    volume: ClusterVolume | undefined,
    base: ClusterState,
  ): Promise<Pick<ClusterState, 'claims' | 'volumes'>> {
    const bound = new Map(base.claims.map((claim) => [keyOf(claim), claim.volumeName]))
    const known = new Set(base.volumes.map(({ name }) => name))
    const named = records.flatMap((pod) => claimsNamedBy(pod).map((name) => ({ namespace: pod.namespace, name })))
    const own = volume?.claim === undefined ? [] : [volume.claim]
    const asked = new Map(
      [...own, ...named.filter((claim) => !known.has(bound.get(keyOf(claim)) ?? ''))].map((key) => [keyOf(key), key]),
    )
    const claims: ClusterClaim[] = []
    const volumes = volume === undefined ? [] : [volume]
    // One after the other: rarely more than one.
    for (const { namespace, name } of asked.values()) {
      const claim = await this.#get(CLAIMS, { namespace, name })
      if (claim === undefined) continue
      claims.push(claimRecord(claim))
      const { volumeName } = claim.spec
      if (!volumeName || volumeName === volume?.name || known.has(volumeName)) continue
      const found = await this.volume(volumeName, base)
      if (found !== undefined) volumes.push(found)
    }
    const fresh = new Set(volumes.map(({ name }) => name))
    return {
      claims: replaced(base.claims, (claim) => asked.has(keyOf(claim)), ...claims),
      volumes: replaced(base.volumes, ({ name }) => fresh.has(name), ...volumes),
    }
  }

  async #get<T>(resource: Resource<T>, key: ObjectKey): Promise<T | undefined> {
    try {
      return await getObject(this.#client, resource, key, { signal: this.#signal })
    } catch (error) {
      if (error instanceof ApiError && error.isAbsent) return undefined
      throw error
    }
  }
}

function unlessApiError(error: unknown): undefined {
  if (!(error instanceof ApiError)) throw error
  return undefined
}

/** A claim of an ephemeral volume is named after its pod. */
function claimsNamedBy({ name: pod, volumes }: ClusterPod): string[] {
  return volumes.flatMap((volume) => {
    if ('source' in volume) return []
    return [volume.ephemeral === true ? `${pod}-${volume.name}` : volume.claim]
  })
}

/**
 * What of a look can change the verdict about a detach, as one text: the same text, the same verdict. The pass over a large cluster
 * takes a second or two, in which a pod may come; so this is asked again after it.
 */
export function groundsOfDetach(state: ClusterState, { node: name, attachment, volume }: ClusterOperation): string {
  const node = state.nodes.find((each) => each.name === name)
  // Reported every few seconds, whatever happens.
  const { resourceVersion: _, heartbeat: _beat, leaseRenewTime: _lease, ...lasting } = node ?? {}
  return canonicalJson({
    node: node === undefined ? null : lasting,
    lost: state.lostNodes?.find((each) => each.name === name) ?? null,
    attachment: state.attachments.find((each) => each.name === attachment.name) ?? null,
    volume: state.volumes.find((each) => each.name === volume.persistentVolume) ?? null,
    pods: state.pods.filter((pod) => pod.node === name).toSorted((a, b) => compareText(a.uid, b.uid)),
    claims: state.claims.length,
  })
}
