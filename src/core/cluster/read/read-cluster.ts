/**
 * Reads a cluster once, for the attach/detach controller's pass: page by page, each object reduced to a record while the next
 * page is on its way. Only reads (reviews store nothing).
 */
import { serverVersion as askVersion, askWhoIAm, mayI } from '../../api/access-reviews.ts'
import { ApiError, unlessRefused } from '../../api/api-error.ts'
import type { KubeClient } from '../../api/kube-client.ts'
import type { WalkLimits } from '../../api/list-pages.ts'
import { getObject } from '../../api/objects.ts'
import { compareText } from '../../lang/compare-text.ts'
import { defined } from '../../lang/defined.ts'
import type { ApiObject, Lease } from '../../model/objects.ts'
import {
  ATTACHMENTS,
  CSI_DRIVERS,
  LEASES,
  listPath,
  NODES,
  type Resource,
  type ResourcePath,
} from '../../model/resources.ts'
import type { ApiReadError } from '../../model/snapshot.ts'
import { driversOf } from '../model/cluster-objects.ts'
import type {
  ClusterAttachment,
  ClusterNode,
  ClusterResource,
  ClusterRights,
  ClusterState,
  ClusterVolume,
  ControllerEvidence,
  LeaseEvidence,
  ListSight,
} from '../model/cluster-state.ts'
import { ControllerWrites } from './controller-writes.ts'
import { readList } from './read-list.ts'
import { CLUSTER_CLAIMS, CLUSTER_CSI_NODES, CLUSTER_PODS, CLUSTER_VOLUMES } from './received.ts'
import {
  attachmentRecord,
  claimRecord,
  csiRecord,
  driverRecord,
  leaseRecord,
  nodeLease,
  nodeRecord,
  podRecord,
  volumeRecord,
} from './records.ts'
import { ServerClock } from './server-clock.ts'

export interface ReadClusterOptions {
  readonly client: KubeClient
  readonly signal?: AbortSignal | undefined
  /** Called after each page: this many objects of that resource have been read. */
  readonly onProgress?: (resource: string, objects: number) => void
}

/** Above what the largest clusters need (N65): 150,000 pods of 15 KB each are 2.3 GB. */
const LIMITS: WalkLimits = { listBytes: 8 * 1024 * 1024 * 1024, listPages: 20_000, listMs: 1_800_000 }
/** More attachments without their volume are no accident of the moment. */
const MOST_ASKED_AGAIN = 100

export const CONTROLLER_LEASE = { namespace: 'kube-system', name: 'kube-controller-manager' }
const NODE_LEASES = 'kube-node-lease/'
/** How external attachers name the leases by which they elect a leader. */
const ATTACHER_LEASE = /(^|\/)external-attacher-/
/**
 * The lease of a kube-controller-manager that was given another name (--leader-elect-resource-name), as far as the name shows. A
 * cloud-controller-manager attaches nothing, and an operator only watches over another program.
 */
const OTHER_CONTROLLER_LEASE = /^kube-system\/(?!kube-controller-manager$|.*operator).*kube-controller-manager/

/**
 * Reads what the pass needs, in an order in which no attachment can look unwanted because a list is older than another:
 * attachments and Nodes first, then pods, then the claims and volumes that pods refer to. A list that cannot be read becomes an
 * entry of `errors`, and shows no absence.
 *
 * @throws ApiError if the server does not answer at all, refuses attachments, Nodes and pods alike, or the reader was interrupted
 */
export async function readCluster(options: ReadClusterOptions): Promise<ClusterState> {
  const { client, signal } = options
  const reader = new ClusterReader(options)
  // The first request also shows whether a server answers, and its clock.
  const user = await userOf(client, signal)
  const { clock } = reader
  clock.note()
  const [attachments, nodes, csiNodes, drivers, leases, controllerLease, rights, clusterUID, serverVersion] =
    await reader.together([
      reader.list(ATTACHMENTS, attachmentRecord),
      reader.list(NODES, nodeRecord),
      reader.list(CLUSTER_CSI_NODES, (each) => [each.metadata.name, csiRecord(each)] as const),
      reader.list(CSI_DRIVERS, driverRecord),
      reader.leases(),
      controllerLeaseOf(client, signal),
      rightsOf(client, signal),
      clusterUid(client, signal),
      unlessRefused(askVersion(client, signal)),
    ] as const)
  const pods = await reader.list(CLUSTER_PODS, podRecord)
  reader.requireOneOf('volumeattachments', 'nodes', 'pods')
  const { lookup } = driversOf({ drivers: drivers.records, lists: reader.sight, errors: reader.errors })
  const [claims, volumes] = await reader.together([
    reader.list(CLUSTER_CLAIMS, claimRecord),
    reader.list(CLUSTER_VOLUMES, (each) => volumeRecord(each, { podUid: '', lookup, node: null })),
  ] as const)
  const attached = await reader.stillThere(attachments, volumes)
  const controller = await atEnd(client, controllerLease, signal)
  clock.note()
  return {
    apiVersion: 'volctl.io/v1',
    kind: 'ClusterSnapshot',
    ...clock.began(),
    server: client.server,
    ...defined({ clusterUID, insecure: client.insecure, user, serverVersion }),
    lists: reader.sight,
    errors: reader.sortedErrors(),
    rights,
    controller: {
      ...controller,
      ...defined({ otherLeases: listed(leases.controllers), writes: listed(reader.writes.found()) }),
    },
    nodes: joined(nodes.records, csiNodes, leases.nodes),
    pods: pods.records,
    podCount: pods.sight.count,
    claims: claims.records,
    volumes: volumes.records,
    attachments: attached,
    drivers: drivers.records,
    attachers: leases.attachers,
    ...lostNodes(nodes, leases.nodes),
  }
}

type NodeLease = ReturnType<typeof nodeLease>

interface Leases {
  readonly nodes: ReadonlyMap<string, NodeLease> | undefined
  readonly attachers: readonly LeaseEvidence[]
  readonly controllers: readonly LeaseEvidence[]
}

interface Read<T> {
  readonly records: T[]
  readonly sight: ListSight
}

/** Reads lists, and remembers what could not be read, so that a gap is not taken for an absence (S3). */
class ClusterReader {
  readonly errors: ApiReadError[] = []
  readonly #failures = new Map<string, ApiError>()
  readonly writes = new ControllerWrites()
  readonly clock: ServerClock
  readonly #sight: Partial<Record<ClusterResource, ListSight>> = {}
  readonly #options: ReadClusterOptions

  constructor(options: ReadClusterOptions) {
    this.#options = options
    this.clock = new ServerClock(options.client)
  }

  get sight(): Readonly<Record<ClusterResource, ListSight>> {
    return this.#sight as Readonly<Record<ClusterResource, ListSight>>
  }

  /** All requests end before anything is thrown: none is left behind. */
  async together<T extends readonly Promise<unknown>[]>(
    asked: T,
  ): Promise<{ -readonly [Key in keyof T]: Awaited<T[Key]> }> {
    await Promise.allSettled(asked)
    return (await Promise.all(asked)) as { -readonly [Key in keyof T]: Awaited<T[Key]> }
  }

  /** Without any of these lists there is nothing to plan: another server, a wrong path, a credential without rights. */
  requireOneOf(...names: readonly ClusterResource[]): void {
    const failures = names.flatMap((name) => this.#failures.get(name) ?? [])
    if (failures[0] !== undefined && failures.length === names.length) throw failures[0]
  }

  async list<Received extends ApiObject, Made>(
    resource: Resource<Received>,
    record: (object: Received) => Made | undefined,
  ): Promise<Read<Made>> {
    const read = await this.#read(resource, record)
    this.#sight[resource.plural as ClusterResource] = read.sight
    return read
  }

  /** Leases of nodes, of external attachers and of other controller managers: evidence beside other evidence, so that a refusal is no error. */
  async leases(): Promise<Leases> {
    const { records, sight } = await this.#read(LEASES, leaseOfInterest)
    if (sight.state !== 'whole') return { nodes: undefined, attachers: [], controllers: [] }
    const ofNodes = records.filter(isOfNode)
    return {
      nodes: new Map(ofNodes.map((lease) => [lease.name.slice(NODE_LEASES.length), nodeLease(lease)])),
      attachers: records.filter(({ name }) => ATTACHER_LEASE.test(name)),
      controllers: records.filter(({ name }) => OTHER_CONTROLLER_LEASE.test(name)),
    }
  }

  async #read<Received extends ApiObject, Made>(
    resource: Resource<Received>,
    record: (object: Received) => Made | undefined,
  ): Promise<Read<Made>> {
    const { writes } = this
    const onPage = (count: number): void => {
      this.clock.note()
      this.#options.onProgress?.(resource.plural, count)
    }
    try {
      const { records, ...end } = await readList({ ...this.#options, writes }, resource, record, {
        limits: LIMITS,
        onPage,
      })
      return { records, sight: { state: 'whole', ...defined(end) } }
    } catch (error) {
      this.note(error, resource)
      return { records: [], sight: { state: 'failed', count: 0 } }
    }
  }

  /**
   * While the pods of a large cluster are read, a volume may be detached and deleted: its attachment, which was read before, would look
   * like one that nobody takes away. So those without their volume are asked for once more, each by a list, for which no other right is
   * needed. Without an answer they stay.
   */
  async stillThere(
    attachments: Read<ClusterAttachment>,
    volumes: Read<ClusterVolume>,
  ): Promise<readonly ClusterAttachment[]> {
    if (volumes.sight.state !== 'whole') return attachments.records
    const known = new Set(volumes.records.map(({ name }) => name))
    const doubtful = attachments.records.filter(
      ({ persistentVolume = '' }) => persistentVolume !== '' && !known.has(persistentVolume),
    )
    const { client, signal } = this.#options
    const asked = doubtful.slice(0, MOST_ASKED_AGAIN).map(async (attachment) => {
      const query = { fieldSelector: `metadata.name=${attachment.name}` }
      const found = await unlessRefused(client.list<ApiObject>(listPath(ATTACHMENTS), { query, signal }))
      const isGone = found !== undefined && !found.items.some(({ metadata }) => metadata.uid === attachment.uid)
      return isGone ? [attachment] : []
    })
    const gone = new Set((await this.together(asked)).flat())
    return gone.size === 0 ? attachments.records : attachments.records.filter((each) => !gone.has(each))
  }

  /** Keeps a failure of the server's; any other error (an interrupt, a bug) is thrown. */
  note(error: unknown, resource: ResourcePath): void {
    if (!(error instanceof ApiError)) throw error
    this.#failures.set(resource.plural, error)
    this.errors.push({ resource: resource.plural, status: error.status, reason: error.reason, message: error.message })
  }

  /** In an order that does not depend on which answer came first. Leases are evidence beside other evidence. */
  sortedErrors(): ApiReadError[] {
    return this.errors
      .filter(({ resource }) => resource !== LEASES.plural)
      .toSorted((a, b) => compareText(a.resource, b.resource))
  }
}

function isOfNode({ name, renewTime }: LeaseEvidence): boolean {
  return name.startsWith(NODE_LEASES) && renewTime !== undefined
}

/** Of a kubelet that renews it, of an external attacher, or of another controller manager. */
function leaseOfInterest(lease: Lease): LeaseEvidence | undefined {
  const record = leaseRecord(lease)
  const isOther = ATTACHER_LEASE.test(record.name) || OTHER_CONTROLLER_LEASE.test(record.name)
  return isOther || isOfNode(record) ? record : undefined
}

function listed<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list
}

/** @throws ApiError if there is no answer at all */
async function userOf(client: KubeClient, signal: AbortSignal | undefined): Promise<string | undefined> {
  try {
    return await askWhoIAm(client, signal)
  } catch (error) {
    if (error instanceof ApiError && error.status !== 0 && error.status !== 401) return undefined
    throw error
  }
}

function joined(
  nodes: readonly ClusterNode[],
  csiNodes: Read<readonly [string, ClusterNode['csi']]>,
  leases: ReadonlyMap<string, NodeLease> | undefined,
): ClusterNode[] {
  const csi = new Map(csiNodes.records)
  const missing: ClusterNode['csi'] = { state: csiNodes.sight.state === 'whole' ? 'absent' : 'unknown' }
  return nodes.map((node) => ({
    ...node,
    csi: csi.get(node.name) ?? missing,
    ...leases?.get(node.name),
  }))
}

async function controllerLeaseOf(client: KubeClient, signal: AbortSignal | undefined): Promise<ControllerEvidence> {
  try {
    const lease = await getObject(client, LEASES, CONTROLLER_LEASE, { signal })
    return { lease: leaseRecord(lease) }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return error.isAbsent ? {} : { leaseProblem: error.message }
  }
}

/** The lease once more: a clock that is wrong makes a lease look stale, but does not keep it unchanged. */
async function atEnd(
  client: KubeClient,
  evidence: ControllerEvidence,
  signal: AbortSignal | undefined,
): Promise<ControllerEvidence> {
  if (evidence.lease === undefined) return evidence
  const { lease } = await controllerLeaseOf(client, signal)
  return { ...evidence, ...defined({ leaseAtEnd: lease }) }
}

/** Leases of kubelets whose Node is gone: a kubelet may still renew one. */
function lostNodes(
  { records, sight }: Read<ClusterNode>,
  leases: ReadonlyMap<string, NodeLease> | undefined,
): Pick<ClusterState, 'lostNodes'> {
  if (sight.state !== 'whole' || leases === undefined) return {}
  const names = new Set(records.map(({ name }) => name))
  const lost = [...leases].filter(([name]) => !names.has(name))
  return {
    lostNodes: lost.map(([name, { leaseRenewTime, leaseWrittenAt }]) => ({
      name,
      ...defined({ leaseRenewTime: leaseWrittenAt ?? leaseRenewTime }),
    })),
  }
}

async function rightsOf(client: KubeClient, signal: AbortSignal | undefined): Promise<ClusterRights> {
  const may = (verb: string): Promise<boolean | undefined> =>
    mayI(client, { verb, group: 'storage.k8s.io', resource: 'volumeattachments' }, signal)
  const [createAttachments, deleteAttachments, patchAttachments] = await Promise.all([
    may('create'),
    may('delete'),
    may('patch'),
  ])
  return defined({ createAttachments, deleteAttachments, patchAttachments })
}

/** Many identities may not read namespaces; then the server's address alone names the cluster. */
async function clusterUid(client: KubeClient, signal: AbortSignal | undefined): Promise<string | undefined> {
  const found = await unlessRefused(client.get<ApiObject>('/api/v1/namespaces/kube-system', { signal }))
  const uid: unknown = found?.metadata.uid
  return typeof uid === 'string' ? uid : undefined
}
