/**
 * Reads objects of the API as records: a whole cluster once, for the attach/detach controller's pass, page by page, each object reduced
 * to a record while the next page is on its way; or a list, or one object, again. What they show of a controller manager, and the
 * server's clock, are seen on the way. Only reads (reviews store nothing).
 */

import { compareText, unlessEmpty } from '../../base/text.ts'
import { mayI, whoAmI } from '../../kube/access-reviews.ts'
import { type ApiObject, NAMESPACES, type Resource } from '../../kube/api/objects.ts'
import { type ApiReadError, listPath, type ObjectKey } from '../../kube/api/resources.ts'
import { type ApiError, answerTooLarge, orInstead, unlessRefused } from '../../kube/api-error.ts'
import type { KubeClient, ListVisitor, WalkLimits } from '../../kube/kube-client.ts'
import { NOT_READ } from '../../volumes/api-lookup.ts'
import {
  type ClusterAttachment,
  type ClusterNode,
  type ClusterResource,
  type ClusterState,
  type ClusterVolume,
  clusterObjects,
  doubtTwice,
  type LeaseEvidence,
  type ListSight,
} from '../model/cluster-state.ts'
import { ControllerWrites } from './controller-writes.ts'
import { type Drivers, KINDS, nodeLease, type RecordKind, type RecordOf } from './records.ts'

const MOST_OBJECTS = 2_000_000

interface ListSettings {
  /** Of this namespace alone. */
  readonly namespace?: string
  readonly fieldSelector?: string
  readonly limits?: WalkLimits
  /** Called after each page: so many objects have been read. */
  readonly onPage?: (objects: number) => void
}

interface Reading {
  readonly signal?: AbortSignal
  /** Those that an earlier look has found to be controller managers. */
  readonly managers?: readonly string[]
  readonly drivers?: Drivers
}

const NO_DRIVERS: Drivers = { csiDriver: () => NOT_READ }

export class RecordReader {
  readonly writes: ControllerWrites
  drivers: Drivers
  readonly #client: KubeClient
  readonly #signal: AbortSignal | undefined
  /** How far ahead the server's clock is of this machine's; undefined: not known. */
  skewMs: number | undefined

  constructor(client: KubeClient, { signal, managers, drivers = NO_DRIVERS }: Reading) {
    this.drivers = drivers
    this.#client = client
    this.#signal = signal
    this.writes = new ControllerWrites(managers)
  }

  /**
   * To be called after answers. A look judges times (S28) by the clock of the API server, as the Date header of its answers shows. Several
   * servers may answer at one address. Of clocks that differ the one that is behind counts: by it everything is younger.
   */
  noteClock(): void {
    const { clockSkewMs } = this.#client
    if (clockSkewMs !== undefined) this.skewMs = Math.min(this.skewMs ?? clockSkewMs, clockSkewMs)
  }

  /** A time of this machine, by the server's clock. */
  byServer(time = Date.now()): string {
    return new Date(time + (this.skewMs ?? 0)).toISOString()
  }

  /** Consistent: no resourceVersion is asked for (S2). @throws ApiError */
  async list<K extends RecordKind>(name: K, { namespace, fieldSelector, limits, onPage }: ListSettings = {}) {
    const client = this.#client
    const { resource } = KINDS[name]
    const request = `GET ${listPath(resource, namespace)}`
    let records: RecordOf<K>[] = []
    let count = 0
    const visitor: ListVisitor<ApiObject> = () => {
      records = []
      count = 0
      return (objects) => {
        if (count + objects.length > MOST_OBJECTS)
          throw answerTooLarge(client.server, request, `has more than ${MOST_OBJECTS} objects`)
        for (const object of objects) records.push(...this.#seen(name, object))
        count += objects.length
        this.noteClock()
        onPage?.(count)
      }
    }
    const query = fieldSelector === undefined ? undefined : { fieldSelector }
    const settings = { namespace, query, signal: this.#signal }
    const end = await client.walk<ApiObject>(resource, visitor, settings, limits)
    return { records, count, resourceVersion: end.resourceVersion }
  }

  /** @returns undefined: it is shown to be absent @throws ApiError */
  async get<K extends RecordKind>(name: K, key: ObjectKey): Promise<RecordOf<K> | undefined> {
    const resource = KINDS[name].resource as Resource<ApiObject>
    const object = await this.#client.find(resource, key, { signal: this.#signal, whole: true })
    this.noteClock()
    return object && this.#seen(name, object)[0]
  }

  #seen<K extends RecordKind>(name: K, object: ApiObject): readonly RecordOf<K>[] {
    const { resource, record } = KINDS[name]
    this.writes.see(resource.plural, object)
    const made = record(object as never, this.drivers) as RecordOf<K> | undefined
    return made === undefined ? [] : [made]
  }
}

// A whole cluster.

interface ReadClusterOptions {
  readonly client: KubeClient
  readonly signal?: AbortSignal
  /** Called after each page: this many objects of that resource have been read. */
  readonly onProgress?: (resource: string, objects: number) => void
}

/** Above what the largest clusters need (N65): 150,000 pods of 15 KB each are 2.3 GB. */
const LIMITS: WalkLimits = { listBytes: 8 * 1024 * 1024 * 1024, listPages: 20_000, listMs: 1_800_000 }

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
export async function readCluster({ client, signal, onProgress }: ReadClusterOptions): Promise<ClusterState> {
  const reader = new RecordReader(client, { signal })
  const lists = {} as Record<ClusterResource, ListSight>
  const failures = new Map<string, ApiError>()
  const read = <K extends RecordKind>(name: K) => {
    const onPage = (count: number): void => onProgress?.(KINDS[name].resource.plural, count)
    return reader.list(name, { limits: LIMITS, onPage })
  }
  /** Remembers what could not be read, so that a gap is not taken for an absence (S3). */
  const list = async <K extends RecordKind>(name: K): Promise<readonly RecordOf<K>[]> => {
    const resource = KINDS[name].resource.plural as ClusterResource
    const found = await orInstead(read(name), (error) => void failures.set(resource, error))
    const { records = [], count = 0, resourceVersion } = { ...found }
    lists[resource] = { state: found === undefined ? 'failed' : 'whole', count, resourceVersion }
    return records
  }
  const controllerLease = (): Promise<ClusterState['controller']> =>
    orInstead(
      reader.get('leases', CONTROLLER_LEASE).then((lease) => ({ lease })),
      ({ message: leaseProblem }) => ({ leaseProblem }),
    )

  // The first request also shows whether a server answers, and its clock.
  const user = await orInstead(whoAmI(client, signal), (error) => {
    if (error.status === 0 || error.status === 401) throw error
    return undefined
  })
  reader.noteClock()
  const began = Date.now()
  const [attachments, nodes, csiNodes, drivers, leases, controller, ...more] = await together([
    list('attachments'),
    list('nodes'),
    list('csinodes'),
    list('drivers'),
    // Evidence beside other evidence, so that a refusal is no error.
    unlessRefused(read('leases')),
    controllerLease(),
    mayI(client, 'create', signal),
    mayI(client, 'delete', signal),
    // Many identities may not read namespaces; then the server's address alone names the cluster.
    unlessRefused(client.get(NAMESPACES, { name: 'kube-system' }, { signal })),
  ])
  const [createAttachments, deleteAttachments, kubeSystem] = more
  const pods = await list('pods')
  // Without any of these lists there is nothing to plan: another server, a wrong path, a credential without rights.
  const missing = ['volumeattachments', 'nodes', 'pods'].map((name) => failures.get(name))
  if (missing[0] !== undefined && !missing.includes(undefined)) throw missing[0]
  reader.drivers = clusterObjects({ drivers, lists, errors: [] })
  const [claims, volumes] = await together([list('claims'), list('volumes')])
  const attached =
    lists.persistentvolumes.state === 'whole' ? await stillThere(reader, attachments, volumes) : attachments
  // A clock that is wrong makes a lease look stale, but does not keep it unchanged.
  const { lease: leaseAtEnd } = controller.lease === undefined ? {} : await controllerLease()
  reader.noteClock()
  const errors = Array.from(
    failures,
    ([resource, { status, reason, message }]): ApiReadError => ({ resource, status, reason, message }),
  )
  const unlisted = lists.csinodes.state === 'whole' ? 'absent' : 'unknown'
  const { nodes: ofNodes, lostNodes } = joined(nodes, csiNodes, leases?.records ?? [], unlisted)
  const leasesOf = (name: RegExp): readonly LeaseEvidence[] =>
    leases?.records.filter((each) => name.test(each.name)) ?? []
  return doubtTwice({
    apiVersion: 'volctl.io/v1',
    kind: 'ClusterSnapshot',
    capturedAt: reader.byServer(began),
    clockUnknown: reader.skewMs === undefined ? true : undefined,
    server: client.server,
    clusterUID: kubeSystem?.metadata.uid,
    insecure: client.insecure,
    user,
    lists,
    errors: errors.toSorted((a, b) => compareText(a.resource, b.resource)),
    rights: { createAttachments, deleteAttachments },
    controller: {
      ...controller,
      leaseAtEnd,
      otherLeases: unlessEmpty(leasesOf(OTHER_CONTROLLER_LEASE)),
      writes: unlessEmpty(reader.writes.found()),
    },
    nodes: ofNodes,
    lostNodes: lists.nodes.state === 'whole' && leases ? lostNodes : undefined,
    ...{ pods, podCount: lists.pods.count, claims, volumes, attachments: attached, drivers },
    attachers: leasesOf(ATTACHER_LEASE),
  })
}

/** All requests end before anything is thrown: none is left behind. */
async function together<T extends readonly unknown[] | []>(asked: T) {
  await Promise.allSettled(asked)
  return await Promise.all(asked)
}

/** More attachments without their volume are no accident of the moment. */
const MOST_ASKED_AGAIN = 100

/**
 * While the pods of a large cluster are read, a volume may be detached and deleted: its attachment, which was read before, would look
 * like one that nobody takes away. So those without their volume are asked for once more, each by a list, for which no other right is
 * needed. Without an answer they stay.
 */
async function stillThere(
  reader: RecordReader,
  attachments: readonly ClusterAttachment[],
  volumes: readonly ClusterVolume[],
): Promise<readonly ClusterAttachment[]> {
  const known = new Set(volumes.map(({ name }) => name))
  const doubtful = attachments.filter(
    ({ persistentVolume }) => persistentVolume !== undefined && !known.has(persistentVolume),
  )
  const asked = doubtful.slice(0, MOST_ASKED_AGAIN).map(async (attachment) => {
    const fieldSelector = `metadata.name=${attachment.name}`
    const found = await unlessRefused(reader.list('attachments', { fieldSelector }))
    return found?.records.some(({ uid }) => uid === attachment.uid) === false ? attachment : undefined
  })
  const gone = new Set(await together(asked))
  return attachments.filter((each) => !gone.has(each))
}

/**
 * Nodes with their CSINode and Lease; and of kubelets whose Node is gone the lease, which one of them may still renew.
 *
 * @param missing what a CSINode is that was not found
 */
export function joined(
  nodes: readonly ClusterNode[],
  csiNodes: readonly Pick<ClusterNode, 'name' | 'csi'>[],
  leases: readonly LeaseEvidence[],
  missing: ClusterNode['csi']['state'],
) {
  const known = new Map(csiNodes.map(({ name, csi }) => [name, csi]))
  const ofNodes = leases.filter(({ name, renewTime }) => name.startsWith(NODE_LEASES) && renewTime !== undefined)
  const heard = new Map(ofNodes.map((lease) => [lease.name.slice(NODE_LEASES.length), lease]))
  const joinedNodes = nodes.map((node) => ({
    ...node,
    csi: known.get(node.name) ?? { state: missing },
    ...nodeLease(heard.get(node.name)),
  }))
  for (const { name } of nodes) heard.delete(name)
  const lostNodes = Array.from(heard, ([name, lease]) => {
    const { leaseRenewTime, leaseWrittenAt = leaseRenewTime } = nodeLease(lease)
    return { name, leaseRenewTime: leaseWrittenAt }
  })
  return { nodes: joinedNodes, lostNodes }
}
