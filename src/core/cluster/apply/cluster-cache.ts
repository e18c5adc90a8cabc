/** A cluster during an apply: the whole look at its beginning, and what was read again since then in the place of the same. */
import { omitUndefined } from '../../base/omit-undefined.ts'
import { unlessRefused } from '../../kube/api-error.ts'
import type { ClusterOperation } from '../../plan/cluster-plan.ts'
import { type ClusterFacts, clusterFacts, lastPart, leaseName } from '../model/cluster-context.ts'
import type {
  ClusterAttachment,
  ClusterClaim,
  ClusterPod,
  ClusterState,
  ClusterVolume,
  ControllerWrite,
  LeaseEvidence,
  RecordList,
} from '../model/cluster-state.ts'
import { changesBetween, controllerState, lookedAt } from '../model/controller-state.ts'
import { claimsOf, Names, needsOf } from '../pass/row-part.ts'
import { newestWrites } from '../read/controller-writes.ts'
import { CONTROLLER_LEASE } from '../read/read-cluster.ts'
import type { RecordReader } from '../read/record-reader.ts'
import { nodeLease } from '../read/records.ts'

export class ClusterCache {
  state: ClusterState
  facts: ClusterFacts
  readonly #settleMs: number

  constructor(state: ClusterState, settleMs: number) {
    this.state = state
    this.facts = clusterFacts(state, settleMs)
    this.#settleMs = settleMs
  }

  /**
   * The lease stays that of the first look: one that was renewed since then shows that a controller lives, whatever the clocks say. Signs
   * of an earlier look stay signs.
   */
  update({ lists, capturedAt, lease, writes, driversOnNodes = this.facts.driversOnNodes }: RowReading): void {
    const before = this.state
    const { controller } = before
    const again = Object.fromEntries(lists.map(({ list, records }) => [list, records]))
    const { nodes = [], attachments = [] } = again as Partial<ClusterState>
    const uids = new Set([...nodes, ...attachments].map(({ uid }) => uid))
    const isAgain = ({ uid }: { readonly uid: string }): boolean => uids.has(uid)
    const known = lookedAt({ nodes: before.nodes.filter(isAgain), attachments: before.attachments.filter(isAgain) })
    const changes = changesBetween(known, { nodes, attachments })
    this.state = {
      ...before,
      capturedAt,
      controller: {
        ...omitUndefined({ lease: lease && (controller.lease ?? lease), leaseAtEnd: controller.lease && lease }),
        ...omitUndefined({ otherLeases: controller.otherLeases }),
        writes: newestWrites([...(controller.writes ?? []), ...writes]),
        changes: [...new Set([...(controller.changes ?? []), ...changes])],
      },
      ...Object.fromEntries(
        lists.flatMap(({ list, records, replaces }) => {
          const known = before[list]
          // A list that is not readable stays so.
          if (known === undefined) return []
          return [[list, replaced<unknown>(known, records, replaces as (each: unknown) => boolean)]]
        }),
      ),
    }
    this.facts = { controller: this.#judged({ ...this.state, nodes, attachments }), driversOnNodes }
  }

  /** Whoever was dead is asked again, by what was read again. That kubelets are heard (5.) the first look has shown for all. */
  #judged(state: ClusterState): ClusterFacts['controller'] {
    const { controller } = this.facts
    return controller.state === 'dead' ? controllerState(state, this.#settleMs, { isHeard: true }) : controller
  }

  /** @param record undefined: there is none of this name any more */
  putAttachment(name: string, record: ClusterAttachment | undefined): void {
    const records = record === undefined ? [] : [record]
    const attachments = replaced(this.state.attachments, records, (each) => each.name === name)
    this.state = { ...this.state, attachments }
  }

  /** Nothing is run any more. The look at what is left takes as much memory again. */
  forget(): void {
    this.state = { ...this.state, nodes: [], pods: [], claims: [], volumes: [], attachments: [] }
  }
}

function replaced<T>(before: readonly T[], records: readonly T[], replaces: (each: T) => boolean): readonly T[] {
  return before.filter((each) => !replaces(each)).concat(records)
}

// Reads again what an operation rests on, right before it (S26): what `needsOf` names.

/** Records of a list that were read again, and which ones they take the place of. */
type Again = {
  [List in RecordList | 'lostNodes']: {
    readonly list: List
    readonly records: NonNullable<ClusterState[List]>
    readonly replaces: (before: NonNullable<ClusterState[List]>[number]) => boolean
  }
}[RecordList | 'lostNodes']

interface RowReading {
  readonly lists: readonly Again[]
  /** The server's clock after it. */
  readonly capturedAt: string
  /** Of the controller. */
  readonly lease: LeaseEvidence | undefined
  /** Of controller managers, on everything that was read. */
  readonly writes: readonly ControllerWrite[]
  /** What all CSINodes list, where the operation rests on it. */
  readonly driversOnNodes?: ReadonlySet<string>
}

/** Where single objects of a cluster are read. */
export type RowSource = Pick<RecordReader, 'get' | 'list'> & {
  readonly clock: Pick<RecordReader['clock'], 'now'>
  readonly writes: Pick<RecordReader['writes'], 'found'>
}

/**
 * @param state as it is known until now: it decides only which claims are asked for
 * @throws ApiError if anything cannot be read: nothing is done then
 */
export async function readRow(
  source: RowSource,
  state: ClusterState,
  operation: ClusterOperation,
): Promise<RowReading> {
  const { node: name, attachment, namespaces, persistentVolume, driver } = needsOf(state, operation)
  const ofDriver = driver === undefined ? { lists: [] } : await readDriver(source, driver)
  // Pods after the rest: no attachment or Node may be younger than the pods that want it. At the very end, who acts.
  const [node, csi, heard, attachments, volume] = await Promise.all([
    source.get('nodes', { name }),
    source.get('csinodes', { name }),
    // Evidence beside other evidence: a right that is missing hides it, as at the first look.
    unlessRefused(source.get('leases', { namespace: 'kube-node-lease', name })),
    attachment === undefined
      ? source.list('attachments').then(({ records }) => records)
      : source.get('attachments', { name: attachment }).then(listed),
    persistentVolume === undefined ? undefined : source.get('volumes', { name: persistentVolume }),
  ])
  const found = await Promise.all([
    source.list('pods', { fieldSelector: `spec.nodeName=${name}` }),
    ...namespaces.map((namespace) => source.list('pods', { namespace })),
  ])
  const pods = [...new Map(found.flatMap(({ records }) => records).map((pod) => [pod.uid, pod])).values()]
  const asked = claimsToRead(state, pods, volume)
  // One after the other: rarely more than one.
  const claims: ClusterClaim[] = []
  const volumes = new Map<string, ClusterVolume>(volume && [[volume.name, volume]])
  for (const key of asked) {
    const claim = await source.get('claims', key)
    claims.push(...listed(claim))
    const { volumeName } = claim ?? {}
    if (volumeName === undefined || state.volumes.some((each) => each.name === volumeName)) continue
    for (const each of listed(await source.get('volumes', { name: volumeName }))) volumes.set(each.name, each)
  }
  const [podNames, claimNames] = [new Names(pods), new Names(asked)]
  const lease = await source.get('leases', CONTROLLER_LEASE)
  const kubelet: ReturnType<typeof nodeLease> = heard === undefined ? {} : nodeLease(heard)
  const leaseRenewTime = kubelet.leaseWrittenAt ?? kubelet.leaseRenewTime
  const isNode = (each: { readonly name: string }): boolean => each.name === name
  return {
    ...ofDriver,
    ...{ capturedAt: source.clock.now(), lease, writes: source.writes.found() },
    lists: [
      {
        list: 'nodes',
        records: listed(node).map((each) => ({ ...each, csi: csi?.csi ?? { state: 'absent' }, ...kubelet })),
        replaces: isNode,
      },
      // If there is only its lease, when its kubelet was last heard.
      {
        list: 'lostNodes',
        records: node === undefined && leaseRenewTime !== undefined ? [{ name, leaseRenewTime }] : [],
        replaces: isNode,
      },
      {
        list: 'pods',
        records: pods,
        replaces: (pod) => pod.node === name || namespaces.includes(pod.namespace) || podNames.has(pod),
      },
      { list: 'claims', records: claims, replaces: (claim) => claimNames.has(claim) },
      {
        list: 'volumes',
        records: [...volumes.values()],
        replaces: (each) => each.name === persistentVolume || volumes.has(each.name),
      },
      {
        list: 'attachments',
        records: attachments,
        replaces: (each) => attachment === undefined || each.name === attachment,
      },
      ...ofDriver.lists,
    ],
  }
}

function listed<T>(record: T | undefined): readonly T[] {
  return record === undefined ? [] : [record]
}

/** With leases by the name of its external attacher, of any namespace. */
async function readDriver(source: RowSource, driver: string): Promise<Pick<RowReading, 'lists' | 'driversOnNodes'>> {
  const name = leaseName(driver)
  const [drivers, nodes, attachers] = await Promise.all([
    source.list('drivers'),
    source.list('csinodes'),
    source.list('leases', { fieldSelector: `metadata.name=${name}` }),
  ])
  const onNodes = nodes.records.flatMap(({ csi }) => (csi.state === 'known' ? csi.drivers : []))
  return {
    driversOnNodes: new Set(onNodes.map((each) => each.name)),
    lists: [
      { list: 'drivers', records: drivers.records, replaces: () => true },
      { list: 'attachers', records: attachers.records, replaces: (lease) => lastPart(lease.name) === name },
    ],
  }
}

/** The volume's own claim, and those of the pods that were not known to be bound: a claim keeps its volume, and a volume its source. */
function claimsToRead(
  { claims, volumes }: ClusterState,
  pods: readonly ClusterPod[],
  volume: ClusterVolume | undefined,
): ReturnType<typeof claimsOf> {
  const named = pods.flatMap(claimsOf)
  const names = new Names(named)
  const mine = claims.filter((claim) => names.has(claim))
  const wanted = new Set(mine.map(({ volumeName }) => volumeName))
  const there = new Set(volumes.flatMap(({ name }) => (wanted.has(name) ? name : [])))
  const bound = new Names(mine.filter(({ volumeName = '' }) => there.has(volumeName)))
  const asked = [...(volume?.claim === undefined ? [] : [volume.claim]), ...named.filter((each) => !bound.has(each))]
  return [...new Map(asked.map(({ namespace, name }) => [`${namespace}/${name}`, { namespace, name }])).values()]
}
