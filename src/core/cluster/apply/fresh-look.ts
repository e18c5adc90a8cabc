/**
 * What an operation rests on, read again right before it (S26): laid over the look at the whole cluster from the beginning of the
 * apply. Only what could change the verdict about this one volume is read:
 *
 * - the controller's lease, the Node with its lease and CSINode, the attachment, its PersistentVolume and that one's claim;
 * - for a detach, a consistent list of the pods of its node: no other pod can want the volume there;
 * - for an attach, also all pods of the namespaces of its pods, where every pod with the same claim is, and all attachments: somebody may
 *   have made one elsewhere, of whatever name;
 * - claims that these pods name and that were not bound at the beginning, with their PersistentVolumes.
 *
 * Where finalizers are taken off, or a driver is held to be gone, first all that can show the driver (lookAtDriver).
 */
import { ApiError } from '../../api/api-error.ts'
import type { KubeClient } from '../../api/kube-client.ts'
import { getObject, received } from '../../api/received-objects.ts'
import type { Shape } from '../../json/shape.ts'
import type { ApiObject } from '../../model/objects.ts'
import {
  ATTACHMENTS,
  CLAIMS,
  CSI_DRIVERS,
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
import { namespacedName } from '../../plan/pod-name.ts'
import { leaseName } from '../context/drivers.ts'
import type {
  ClusterAttachment,
  ClusterClaim,
  ClusterPod,
  ClusterState,
  ClusterVolume,
} from '../model/cluster-state.ts'
import { ControllerWrites } from '../read/controller-writes.ts'
import { csiRecord, driverRecord, leaseRecord, nodeLease, nodeRecord } from '../read/node-records.ts'
import { podRecord } from '../read/pod-record.ts'
import { CONTROLLER_LEASE } from '../read/read-cluster.ts'
import { type ReceivedCsiNode, receivedCsiNode, receivedPod } from '../read/received.ts'
import { ServerClock } from '../read/server-clock.ts'
import { attachmentRecord, claimRecord, volumeRecord } from '../read/volume-records.ts'
import type { ClaimName, FreshDriver, FreshLook, FreshNode } from './fresh-records.ts'
import type { KnownCluster } from './known-cluster.ts'

/**
 * @param cluster as it is known until now: of the look it decides only which claims are asked for
 * @throws ApiError if anything of it cannot be read: nothing is done then
 */
export async function lookAtVolume(
  client: KubeClient,
  cluster: KnownCluster,
  operation: ClusterOperation,
): Promise<FreshLook> {
  const clock = new ServerClock(client)
  const reader = new FreshReader(client, cluster)
  const { volume, attachment } = operation
  const isAttach = operation.kind === 'AttachVolume'
  // Pods after the rest: no attachment or Node may be younger than the pods that want it. At the very end, who acts.
  const [node, attachments, fresh] = await Promise.all([
    reader.node(operation.node),
    isAttach ? reader.allAttachments() : reader.attachment(attachment.name),
    volume.persistentVolume === undefined ? undefined : reader.volume(volume.persistentVolume),
  ])
  const namespaces = isAttach ? [...new Set(operation.pods.flatMap(({ namespace }) => namespace ?? []))] : []
  clock.note()
  const pods = await reader.pods(operation.node, namespaces)
  clock.note()
  const found = await reader.claimsOf(pods, fresh)
  const controller = await reader.controller()
  clock.note()
  return {
    capturedAt: clock.now(),
    ...{ controller, node },
    attachments: { records: attachments, ...(!isAttach && { of: attachment.name }) },
    pods: { namespaces, records: pods },
    volumes: {
      asked: volume.persistentVolume === undefined ? [] : [volume.persistentVolume],
      records: [...(fresh === undefined ? [] : [fresh]), ...found.volumes],
    },
    claims: { asked: found.asked, records: found.claims },
  }
}

/** It is decided on what no node, object or lease says of a driver. */
export function restsOnDriver({ reason, steps }: ClusterOperation): boolean {
  return reason === 'DriverRemoved' || steps.some(({ op }) => op === 'removeFinalizers')
}

/**
 * Everything that can show the driver of an attachment: the CSIDrivers, what each CSINode lists, and the lease of its external attacher,
 * in whatever namespace. A node that came meanwhile is read, too.
 *
 * @throws ApiError if anything of it cannot be read: nothing is done then
 */
export async function lookAtDriver(
  client: KubeClient,
  cluster: KnownCluster,
  { attachment, volume }: ClusterOperation,
): Promise<FreshDriver | undefined> {
  const [known] = cluster.attachments.of('name', attachment.name)
  const driver = known?.attacher ?? volume.driver
  return driver === undefined ? undefined : await new FreshReader(client, cluster).driver(driver)
}

class FreshReader {
  readonly #client: KubeClient
  readonly #cluster: KnownCluster
  readonly #writes: ControllerWrites

  constructor(client: KubeClient, cluster: KnownCluster) {
    this.#client = client
    this.#cluster = cluster
    this.#writes = new ControllerWrites(cluster.head.controller.writes?.map(({ manager }) => manager))
  }

  /** Read last: with it comes what all that was read before shows of a controller. */
  async controller(): Promise<ClusterState['controller']> {
    const lease = await this.#get(LEASES, CONTROLLER_LEASE)
    const writes = this.#writes.found()
    return { ...(lease !== undefined && { lease: leaseRecord(lease) }), ...(writes.length > 0 && { writes }) }
  }

  async node(name: string): Promise<FreshNode> {
    const [node, csiNode, lease] = await Promise.all([
      this.#get(NODES, { name }),
      this.#get(CSI_NODES, { name }),
      // Evidence beside other evidence: a right that is missing hides it, as at the first look.
      this.#get(LEASES, { namespace: 'kube-node-lease', name }).catch(unlessApiError),
    ])
    const renewed = lease === undefined ? {} : nodeLease(leaseRecord(lease))
    const leaseRenewTime = renewed.leaseWrittenAt ?? renewed.leaseRenewTime
    if (node === undefined) return { name, record: undefined, leaseRenewTime }
    const csi = csiNode === undefined ? { state: 'absent' as const } : csiRecord(csiNode as ReceivedCsiNode)
    return { name, record: { ...nodeRecord(node), csi, ...renewed }, leaseRenewTime }
  }

  async driver(name: string): Promise<FreshDriver> {
    const ofAttacher = { fieldSelector: `metadata.name=${leaseName(name)}` }
    const [drivers, csi, attachers] = await Promise.all([
      this.#list(listPath(CSI_DRIVERS), CSI_DRIVERS.shape, driverRecord),
      this.#list(
        listPath(CSI_NODES),
        receivedCsiNode,
        (each: ReceivedCsiNode) => [each.metadata.name, csiRecord(each)] as const,
      ),
      this.#list(listPath(LEASES), LEASES.shape, leaseRecord, ofAttacher),
    ])
    const nodes: FreshNode[] = []
    for (const [node] of csi) if (this.#cluster.nodes.of('name', node).size === 0) nodes.push(await this.node(node))
    return { name, drivers, csi: new Map(csi), attachers, nodes }
  }

  async attachment(name: string): Promise<ClusterAttachment[]> {
    const found = await this.#get(ATTACHMENTS, { name })
    return found === undefined ? [] : [attachmentRecord(found)]
  }

  async allAttachments(): Promise<ClusterAttachment[]> {
    return await this.#list(listPath(ATTACHMENTS), ATTACHMENTS.shape, (each) => attachmentRecord(each))
  }

  /** Undefined: it is shown to be absent. */
  async volume(name: string): Promise<ClusterVolume | undefined> {
    const found = await this.#get(VOLUMES, { name })
    if (found === undefined) return undefined
    return volumeRecord(found, { podUid: '', lookup: this.#cluster.drivers.lookup, node: null })
  }

  /** Consistent lists: no resourceVersion is asked for (S2). */
  async pods(node: string, namespaces: readonly string[]): Promise<readonly ClusterPod[]> {
    const ofNode = this.#podsAt(listPath(PODS), { fieldSelector: `spec.nodeName=${node}` })
    const ofNamespaces = namespaces.map((each) => this.#podsAt(`${PODS.root}/namespaces/${each}/${PODS.plural}`))
    const lists = await Promise.all([ofNode, ...ofNamespaces])
    return [...new Map(lists.flat().map((pod) => [pod.uid, pod])).values()]
  }

  #podsAt(path: string, query: Record<string, string> = {}): Promise<ClusterPod[]> {
    return this.#list(path, receivedPod, (each) => podRecord(each), query)
  }

  async #list<Received extends ApiObject, Record>(
    path: string,
    shape: Shape<Received>,
    reduce: (object: Received) => Record | undefined,
    query: Readonly<{ [name: string]: string }> = {},
  ): Promise<Record[]> {
    const records: Record[] = []
    const from = { client: this.#client, request: `GET ${path}` }
    const plural = path.slice(path.lastIndexOf('/') + 1)
    await this.#client.walk<Received, Record | undefined>(
      path,
      {
        begin: () => {
          records.length = 0
        },
        take: (object) => {
          this.#writes.see(plural, object)
          return reduce(received(shape, object, from))
        },
        page: (kept) => {
          for (const record of kept) if (record !== undefined) records.push(record)
        },
      },
      { query },
    )
    return records
  }

  /** The volume's own claim, and those of the pods that were not known to be bound; with their PersistentVolumes. */
  async claimsOf(
    pods: readonly ClusterPod[],
    volume: ClusterVolume | undefined,
  ): Promise<{ asked: readonly ClaimName[]; claims: ClusterClaim[]; volumes: ClusterVolume[] }> {
    const named = pods.flatMap((pod) => claimsNamedBy(pod).map((name) => ({ namespace: pod.namespace, name })))
    const asked = new Map(
      [...(volume?.claim === undefined ? [] : [volume.claim]), ...named.filter((claim) => !this.#isBound(claim))].map(
        ({ namespace, name }) => [`${namespace}/${name}`, { namespace, name }],
      ),
    )
    const claims: ClusterClaim[] = []
    const volumes = new Map<string, ClusterVolume>()
    // One after the other: rarely more than one.
    for (const key of asked.values()) {
      const claim = await this.#get(CLAIMS, key)
      if (claim === undefined) continue
      claims.push(claimRecord(claim))
      const { volumeName } = claim.spec
      if (!volumeName || volumeName === volume?.name || this.#isKnown(volumeName)) continue
      const found = await this.volume(volumeName)
      if (found !== undefined) volumes.set(found.name, found)
    }
    return { asked: [...asked.values()], claims, volumes: [...volumes.values()] }
  }

  #isKnown(volume: string): boolean {
    return this.#cluster.volumes.of('name', volume).size > 0
  }

  #isBound(claim: ClaimName): boolean {
    return [...this.#cluster.claims.of('name', namespacedName(claim))].some(({ volumeName = '' }) =>
      this.#isKnown(volumeName),
    )
  }

  async #get<T extends ApiObject>(resource: Resource<T>, key: ObjectKey): Promise<T | undefined> {
    try {
      const object = await getObject(this.#client, resource, key)
      this.#writes.see(resource.plural, object)
      return object
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

function claimsNamedBy({ volumes }: ClusterPod): string[] {
  return volumes.flatMap((volume) => ('source' in volume ? [] : [volume.claim]))
}
