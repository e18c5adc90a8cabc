/** Reads again what an operation rests on, right before it (S26): what `needsOf` names. */
import { unlessRefused } from '../../api/api-error.ts'
import type { KubeClient } from '../../api/kube-client.ts'
import { defined } from '../../lang/defined.ts'
import { ATTACHMENTS, CSI_DRIVERS, LEASES, NODES } from '../../model/resources.ts'
import type { ClusterOperation } from '../../plan/cluster-plan.ts'
import { lastPart, leaseName } from '../context/drivers.ts'
import { driversOf } from '../model/cluster-objects.ts'
import type {
  ClusterAttachment,
  ClusterClaim,
  ClusterDriver,
  ClusterNode,
  ClusterPod,
  ClusterState,
  ClusterVolume,
  LeaseEvidence,
} from '../model/cluster-state.ts'
import { claimsOf, Names, needsOf } from '../pass/row-part.ts'
import { ControllerWrites } from '../read/controller-writes.ts'
import { CONTROLLER_LEASE } from '../read/read-cluster.ts'
import { type Reading, readList, readObject } from '../read/read-list.ts'
import { CLUSTER_CLAIMS, CLUSTER_CSI_NODES, CLUSTER_PODS, CLUSTER_VOLUMES } from '../read/received.ts'
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
} from '../read/records.ts'
import { ServerClock } from '../read/server-clock.ts'

/** Records that were read again, and which ones they take the place of. */
export interface Again<T> {
  readonly records: readonly T[]
  readonly replaces: (before: T) => boolean
}

export interface RowReading {
  /** The server's clock after it. */
  readonly capturedAt: string
  readonly controller: ClusterState['controller']
  readonly nodes: Again<ClusterNode>
  /** The node, and when its kubelet was last heard, if there is only its lease. */
  readonly lost: NonNullable<ClusterState['lostNodes']>[number]
  readonly pods: Again<ClusterPod>
  readonly claims: Again<ClusterClaim>
  readonly volumes: Again<ClusterVolume>
  readonly attachments: Again<ClusterAttachment>
  readonly driver?: DriverReading
}

interface DriverReading {
  readonly drivers: readonly ClusterDriver[]
  /** Leases by the name of its external attacher, of any namespace. */
  readonly attachers: Again<LeaseEvidence>
  /** What all CSINodes list. */
  readonly onNodes: ReadonlySet<string>
}

interface ClaimName {
  readonly namespace: string
  readonly name: string
}

/** Where single objects of a cluster are read. */
export interface RowSource {
  /** `record` undefined: it does not exist. */
  node(name: string): Promise<{ readonly record?: ClusterNode | undefined; readonly lease?: LeaseEvidence | undefined }>
  /** Of this name, or all. */
  attachments(name: string | undefined): Promise<readonly ClusterAttachment[]>
  podsOn(node: string): Promise<readonly ClusterPod[]>
  podsIn(namespace: string): Promise<readonly ClusterPod[]>
  claim(key: ClaimName): Promise<ClusterClaim | undefined>
  volume(name: string): Promise<ClusterVolume | undefined>
  drivers(): Promise<readonly ClusterDriver[]>
  csiNodes(): Promise<readonly ClusterNode['csi'][]>
  leasesCalled(name: string): Promise<readonly LeaseEvidence[]>
  /** Asked last: with it comes what all that was read before shows of a controller. */
  controller(): Promise<ClusterState['controller']>
  now(): string
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
  const ofDriver = driver === undefined ? undefined : await readDriver(source, driver)
  // Pods after the rest: no attachment or Node may be younger than the pods that want it. At the very end, who acts.
  const [node, attachments, volume] = await Promise.all([
    source.node(name),
    source.attachments(attachment),
    persistentVolume === undefined ? undefined : source.volume(persistentVolume),
  ])
  const pods = (await Promise.all([source.podsOn(name), ...namespaces.map((each) => source.podsIn(each))])).flat()
  const asked = claimsToRead(state, pods, volume)
  // One after the other: rarely more than one.
  const claims: ClusterClaim[] = []
  const volumes = new Map<string, ClusterVolume>(volume && [[volume.name, volume]])
  for (const key of asked) {
    const claim = await source.claim(key)
    if (claim === undefined) continue
    claims.push(claim)
    const { volumeName } = claim
    if (volumeName === undefined || volumes.has(volumeName)) continue
    if (state.volumes.some((each) => each.name === volumeName)) continue
    const found = await source.volume(volumeName)
    if (found !== undefined) volumes.set(found.name, found)
  }
  const [podNames, claimNames] = [new Names(pods), new Names(asked)]
  const controller = await source.controller()
  const { record, lease } = node
  const heard = lease && nodeLease(lease)
  const leaseRenewTime = record === undefined ? (heard?.leaseWrittenAt ?? heard?.leaseRenewTime) : undefined
  return {
    ...{ capturedAt: source.now(), controller, lost: { name, ...defined({ leaseRenewTime }) } },
    nodes: { records: record === undefined ? [] : [{ ...record, ...heard }], replaces: (each) => each.name === name },
    pods: {
      records: [...new Map(pods.map((pod) => [pod.uid, pod])).values()],
      replaces: (pod) => pod.node === name || namespaces.includes(pod.namespace) || podNames.has(pod),
    },
    claims: { records: claims, replaces: (claim) => claimNames.has(claim) },
    volumes: {
      records: [...volumes.values()],
      replaces: (each) => each.name === persistentVolume || volumes.has(each.name),
    },
    attachments: {
      records: attachments,
      replaces: (each) => attachment === undefined || each.name === attachment,
    },
    ...defined({ driver: ofDriver }),
  }
}

async function readDriver(source: RowSource, driver: string): Promise<DriverReading> {
  const name = leaseName(driver)
  const [drivers, csi, attachers] = await Promise.all([source.drivers(), source.csiNodes(), source.leasesCalled(name)])
  const onNodes = csi.flatMap((each) => (each.state === 'known' ? each.drivers.map((of) => of.name) : []))
  return {
    ...{ drivers, onNodes: new Set(onNodes) },
    attachers: { records: attachers, replaces: (lease) => lastPart(lease.name) === name },
  }
}

/** The volume's own claim, and those of the pods that were not known to be bound: a claim keeps its volume, and a volume its source. */
function claimsToRead(
  { claims, volumes }: ClusterState,
  pods: readonly ClusterPod[],
  volume: ClusterVolume | undefined,
): readonly ClaimName[] {
  const named = pods.flatMap(claimsOf)
  const names = new Names(named)
  const mine = claims.filter((claim) => names.has(claim))
  const wanted = new Set(mine.map(({ volumeName }) => volumeName))
  const there = new Set(volumes.flatMap(({ name }) => (wanted.has(name) ? [name] : [])))
  const bound = new Names(mine.filter(({ volumeName = '' }) => there.has(volumeName)))
  const asked = [...(volume?.claim === undefined ? [] : [volume.claim]), ...named.filter((each) => !bound.has(each))]
  const byName = new Map(asked.map(({ namespace, name }) => [`${namespace}/${name}`, { namespace, name }]))
  return [...byName.values()]
}

/** @param state as it is known until now: its drivers name volumes, and it knows who is a controller manager */
export function sourceOf(client: KubeClient, state: ClusterState): RowSource {
  const clock = new ServerClock(client)
  const writes = new ControllerWrites(state.controller.writes?.map(({ manager }) => manager))
  const reading: Reading = { client, writes }
  const { lookup } = driversOf(state)
  const noted = <T>(records: T): T => {
    clock.note()
    return records
  }
  /** Consistent: no resourceVersion is asked for (S2). */
  const podsBy = async (settings: Parameters<typeof readList>[3]): Promise<readonly ClusterPod[]> =>
    noted((await readList(reading, CLUSTER_PODS, podRecord, settings)).records)
  const controller = async (): Promise<ClusterState['controller']> => {
    const lease = await readObject(reading, LEASES, CONTROLLER_LEASE)
    const found = writes.found()
    return noted({ ...(lease && { lease: leaseRecord(lease) }), ...(found.length > 0 && { writes: found }) })
  }
  return {
    node: async (name) => {
      const [node, csiNode, lease] = await Promise.all([
        readObject(reading, NODES, { name }),
        readObject(reading, CLUSTER_CSI_NODES, { name }),
        // Evidence beside other evidence: a right that is missing hides it, as at the first look.
        unlessRefused(readObject(reading, LEASES, { namespace: 'kube-node-lease', name })),
      ])
      const csi = csiNode === undefined ? { state: 'absent' as const } : csiRecord(csiNode)
      return { record: node && { ...nodeRecord(node), csi }, lease: lease && leaseRecord(lease) }
    },
    attachments: async (name) => {
      if (name === undefined) return noted((await readList(reading, ATTACHMENTS, attachmentRecord)).records)
      const found = await readObject(reading, ATTACHMENTS, { name })
      return noted(found === undefined ? [] : [attachmentRecord(found)])
    },
    podsOn: (node) => podsBy({ query: { fieldSelector: `spec.nodeName=${node}` } }),
    podsIn: (namespace) => podsBy({ path: `${CLUSTER_PODS.root}/namespaces/${namespace}/${CLUSTER_PODS.plural}` }),
    claim: async (key) => {
      const found = await readObject(reading, CLUSTER_CLAIMS, key)
      return found && claimRecord(found)
    },
    volume: async (name) => {
      const found = await readObject(reading, CLUSTER_VOLUMES, { name })
      return found && volumeRecord(found, { podUid: '', lookup, node: null })
    },
    drivers: async () => (await readList(reading, CSI_DRIVERS, driverRecord)).records,
    csiNodes: async () => (await readList(reading, CLUSTER_CSI_NODES, csiRecord)).records,
    leasesCalled: async (name) => {
      const query = { fieldSelector: `metadata.name=${name}` }
      return (await readList(reading, LEASES, leaseRecord, { query })).records
    },
    controller,
    now: () => clock.now(),
  }
}
