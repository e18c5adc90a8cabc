/**
 * Reads a cluster once, for the attach/detach controller's pass: page by page, each object reduced to a record while the next
 * page is on its way. Only reads (reviews store nothing).
 */

import { compareText } from '../../base/compare-text.ts'
import { omitUndefined } from '../../base/omit-undefined.ts'
import type { ApiReadError } from '../../facts/actual/snapshot.ts'
import { serverVersion as askVersion, askWhoIAm, mayI } from '../../kube/access-reviews.ts'
import { NAMESPACES } from '../../kube/api/resources.ts'
import { ApiError, unlessRefused } from '../../kube/api-error.ts'
import type { KubeClient } from '../../kube/kube-client.ts'
import type { WalkLimits } from '../../kube/list-pages.ts'
import { getObject } from '../../kube/objects.ts'
import { ClusterObjects, doubtTwice } from '../model/cluster-objects.ts'
import type {
  ClusterAttachment,
  ClusterNode,
  ClusterResource,
  ClusterRights,
  ClusterState,
  ClusterVolume,
  ControllerEvidence,
  ListSight,
} from '../model/cluster-state.ts'
import { pluralOf, type RecordKind, type RecordOf, RecordReader } from './record-reader.ts'
import { nodeLease } from './records.ts'

interface ReadClusterOptions {
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
  const look = new ClusterLook(options)
  // The first request also shows whether a server answers, and its clock.
  const user = await userOf(client, signal)
  const { reader } = look
  reader.noteClock()
  const [attachments, nodes, csiNodes, drivers, leases, controllerLease, rights, clusterUID, serverVersion] =
    await together([
      look.list('attachments'),
      look.list('nodes'),
      look.list('csinodes'),
      look.list('drivers'),
      look.leases(),
      look.controllerLease(),
      rightsOf(client, signal),
      clusterUid(client, signal),
      unlessRefused(askVersion(client, signal)),
    ] as const)
  const pods = await look.list('pods')
  look.requireOneOf('volumeattachments', 'nodes', 'pods')
  const { lists, errors } = look
  reader.drivers = new ClusterObjects({ drivers, lists, errors }).lookup
  const [claims, volumes] = await together([look.list('claims'), look.list('volumes')] as const)
  const attached = await look.stillThere(attachments, volumes)
  // A clock that is wrong makes a lease look stale, but does not keep it unchanged.
  const { lease: leaseAtEnd } = controllerLease.lease === undefined ? {} : await look.controllerLease()
  reader.noteClock()
  return doubtTwice({
    apiVersion: 'volctl.io/v1',
    kind: 'ClusterSnapshot',
    ...reader.began(),
    server: client.server,
    ...omitUndefined({ clusterUID, insecure: client.insecure, user, serverVersion }),
    lists,
    errors: errors.toSorted((a, b) => compareText(a.resource, b.resource)),
    rights,
    controller: {
      ...controllerLease,
      ...omitUndefined({ leaseAtEnd, otherLeases: listed(leases.controllers), writes: listed(reader.writes.found()) }),
    },
    ...joined(nodes, csiNodes, leases.nodes, lists),
    ...{ pods, podCount: lists.pods.count, claims, volumes, attachments: attached, drivers },
    attachers: leases.attachers,
  })
}

/** All requests end before anything is thrown: none is left behind. */
async function together<T extends readonly Promise<unknown>[]>(
  asked: T,
): Promise<{ -readonly [Key in keyof T]: Awaited<T[Key]> }> {
  await Promise.allSettled(asked)
  return (await Promise.all(asked)) as { -readonly [Key in keyof T]: Awaited<T[Key]> }
}

/** By node. Undefined: not readable. */
type NodeLeases = ReadonlyMap<string, ReturnType<typeof nodeLease>> | undefined

/** Reads lists, and remembers what could not be read, so that a gap is not taken for an absence (S3). */
class ClusterLook {
  readonly errors: ApiReadError[] = []
  readonly reader: RecordReader
  readonly lists = {} as Record<ClusterResource, ListSight>
  readonly #failures = new Map<string, ApiError>()
  readonly #options: ReadClusterOptions

  constructor(options: ReadClusterOptions) {
    this.#options = options
    this.reader = new RecordReader(options.client, { signal: options.signal })
  }

  /** Without any of these lists there is nothing to plan: another server, a wrong path, a credential without rights. */
  requireOneOf(...names: readonly ClusterResource[]): void {
    const failures = names.flatMap((name) => this.#failures.get(name) ?? [])
    if (failures[0] !== undefined && failures.length === names.length) throw failures[0]
  }

  async list<K extends RecordKind>(kind: K): Promise<readonly RecordOf<K>[]> {
    const resource = pluralOf(kind) as ClusterResource
    try {
      const { records, count, resourceVersion } = await this.#read(kind)
      this.lists[resource] = { state: 'whole', count, ...omitUndefined({ resourceVersion }) }
      return records
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const { status, reason, message } = error
      this.#failures.set(resource, error)
      this.errors.push({ resource, status, reason, message })
      this.lists[resource] = { state: 'failed', count: 0 }
      return []
    }
  }

  #read<K extends RecordKind>(kind: K) {
    const onPage = (count: number): void => this.#options.onProgress?.(pluralOf(kind), count)
    return this.reader.list(kind, { limits: LIMITS, onPage })
  }

  /** Leases of nodes, of external attachers and of other controller managers: evidence beside other evidence, so that a refusal is no error. */
  async leases() {
    const records = (await unlessRefused(this.#read('leases')))?.records
    const ofNodes = records?.filter(({ name, renewTime }) => name.startsWith(NODE_LEASES) && renewTime !== undefined)
    return {
      nodes: ofNodes && new Map(ofNodes.map((lease) => [lease.name.slice(NODE_LEASES.length), nodeLease(lease)])),
      attachers: records?.filter(({ name }) => ATTACHER_LEASE.test(name)) ?? [],
      controllers: records?.filter(({ name }) => OTHER_CONTROLLER_LEASE.test(name)) ?? [],
    }
  }

  async controllerLease(): Promise<ControllerEvidence> {
    try {
      return omitUndefined({ lease: await this.reader.get('leases', CONTROLLER_LEASE) })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      return { leaseProblem: error.message }
    }
  }

  /**
   * While the pods of a large cluster are read, a volume may be detached and deleted: its attachment, which was read before, would look
   * like one that nobody takes away. So those without their volume are asked for once more, each by a list, for which no other right is
   * needed. Without an answer they stay.
   */
  async stillThere(
    attachments: readonly ClusterAttachment[],
    volumes: readonly ClusterVolume[],
  ): Promise<readonly ClusterAttachment[]> {
    if (this.lists.persistentvolumes.state !== 'whole') return attachments
    const known = new Set(volumes.map(({ name }) => name))
    const doubtful = attachments.filter(
      ({ persistentVolume = '' }) => persistentVolume !== '' && !known.has(persistentVolume),
    )
    const asked = doubtful.slice(0, MOST_ASKED_AGAIN).map(async (attachment) => {
      const fieldSelector = `metadata.name=${attachment.name}`
      const found = await unlessRefused(this.reader.list('attachments', { fieldSelector }))
      const isGone = found !== undefined && !found.records.some(({ uid }) => uid === attachment.uid)
      return isGone ? [attachment] : []
    })
    const gone = new Set((await together(asked)).flat())
    return gone.size === 0 ? attachments : attachments.filter((each) => !gone.has(each))
  }
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

/** Nodes with their CSINode and Lease; and of kubelets whose Node is gone the lease, which one of them may still renew. */
function joined(
  nodes: readonly ClusterNode[],
  csiNodes: readonly Pick<ClusterNode, 'name' | 'csi'>[],
  leases: NodeLeases,
  lists: ClusterState['lists'],
): Pick<ClusterState, 'nodes' | 'lostNodes'> {
  const known = new Map(csiNodes.map(({ name, csi }) => [name, csi]))
  const missing: ClusterNode['csi'] = { state: lists.csinodes?.state === 'whole' ? 'absent' : 'unknown' }
  const names = new Set(nodes.map(({ name }) => name))
  const lost = [...(leases ?? [])].filter(([name]) => !names.has(name))
  const lostNodes = lost.map(([name, { leaseRenewTime, leaseWrittenAt = leaseRenewTime }]) => ({
    name,
    ...omitUndefined({ leaseRenewTime: leaseWrittenAt }),
  }))
  return {
    nodes: nodes.map((node) => ({ ...node, csi: known.get(node.name) ?? missing, ...leases?.get(node.name) })),
    ...(lists.nodes?.state === 'whole' && leases !== undefined && { lostNodes }),
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
  return omitUndefined({ createAttachments, deleteAttachments, patchAttachments })
}

/** Many identities may not read namespaces; then the server's address alone names the cluster. */
async function clusterUid(client: KubeClient, signal: AbortSignal | undefined): Promise<string | undefined> {
  const found = await unlessRefused(getObject(client, NAMESPACES, { name: 'kube-system' }, { signal }))
  return found?.metadata.uid
}
