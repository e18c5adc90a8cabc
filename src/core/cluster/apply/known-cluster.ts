/**
 * A cluster during an apply: the whole look at its beginning, and each fresh look laid over it. Its records are found by what refers to
 * them, so that what one operation rests on is gathered without a walk through everything.
 */
import { canonicalJson } from '../../json/canonical-json.ts'
import { defined } from '../../lang/defined.ts'
import { csiUniqueName } from '../../names/volume-names.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import { type ClusterFacts, clusterFacts } from '../context/cluster-facts.ts'
import { lastPart, leaseName } from '../context/drivers.ts'
import { changesBetween, lookedAt } from '../controller/between-looks.ts'
import { signsBegin } from '../controller/controller-state.ts'
import { resolvePodVolume } from '../desired/pod-volume.ts'
import { ClusterObjects } from '../model/cluster-objects.ts'
import type {
  ClusterAttachment,
  ClusterClaim,
  ClusterNode,
  ClusterPod,
  ClusterState,
  ClusterVolume,
} from '../model/cluster-state.ts'
import { timeOf } from '../model/times.ts'
import { newestWrites } from '../read/controller-writes.ts'
import type { FreshDriver, FreshLook } from './fresh-records.ts'

/** What is one for the whole cluster. */
export type ClusterHead = Omit<ClusterState, 'nodes' | 'pods' | 'claims' | 'volumes' | 'attachments'>

export class KnownCluster {
  #head: ClusterHead
  readonly nodes: Table<ClusterNode, 'name' | 'volume'>
  readonly pods: Table<ClusterPod, 'name' | 'node' | 'namespace' | 'claim' | 'inline'>
  readonly claims: Table<ClusterClaim, 'name' | 'volume'>
  readonly volumes: Table<ClusterVolume, 'name' | 'volume' | 'claim'>
  readonly attachments: Table<ClusterAttachment, 'name' | 'node' | 'persistentVolume' | 'inline'>
  /** Of attachments: when they were created, or their deletion began. */
  readonly #times = new Map<ClusterAttachment, number>()
  /** Attachments whose volume at most the hash in their name shows. */
  readonly #unidentified = new Set<ClusterAttachment>()

  constructor(state: ClusterState) {
    const { nodes, pods, claims, volumes, attachments, ...head } = state
    this.#head = head
    const inline = inlineNames(head)
    this.nodes = new Table(
      {
        name: ({ name }) => [name],
        volume: ({ volumesInUse = [], volumesAttached = [] }) => [...volumesInUse, ...volumesAttached],
      },
      nodes,
    )
    this.pods = new Table(
      {
        name: (pod) => [namespacedName(pod)],
        node: ({ node = '' }) => [node],
        namespace: ({ namespace }) => [namespace],
        claim: claimsOf,
        inline,
      },
      pods,
    )
    this.claims = new Table(
      { name: (claim) => [namespacedName(claim)], volume: ({ volumeName }) => given(volumeName) },
      claims,
    )
    this.volumes = new Table(
      {
        name: ({ name }) => [name],
        volume: ({ uniqueName }) => given(uniqueName),
        claim: ({ claim }) => given(claim && namespacedName(claim)),
      },
      volumes,
    )
    this.attachments = new Table(ATTACHMENT_KEYS, [])
    for (const each of attachments) this.#addAttachment(each)
  }

  /** The drivers alone, by which PersistentVolumes are named. */
  get drivers(): ClusterObjects {
    return driversOf(this.#head)
  }

  get head(): ClusterHead {
    return this.#head
  }

  get unidentified(): ReadonlySet<ClusterAttachment> {
    return this.#unidentified
  }

  /** Everything: as long as the cluster is large. */
  whole(): ClusterState {
    return {
      ...this.#head,
      nodes: this.nodes.all(),
      pods: this.pods.all(),
      claims: this.claims.all(),
      volumes: this.volumes.all(),
      attachments: this.attachments.all(),
    }
  }

  /** What only all Nodes and attachments show. Of attachments only the latest can be a sign of a controller that lives. */
  facts(settleMs: number): ClusterFacts {
    const sources = { ...this.#head, nodes: this.nodes.all() }
    const from = signsBegin({ ...sources, attachments: [] })
    const attachments: ClusterAttachment[] = []
    this.#times.forEach((time, each) => {
      if (time > from) attachments.push(each)
    })
    return clusterFacts({ ...sources, attachments }, settleMs)
  }

  /** Takes a fresh look in the place of what was known of the same. */
  lay({ capturedAt, controller, node, attachments, pods, volumes, claims }: FreshLook): void {
    const { lostNodes } = this.#head
    const lost = lostNodes?.filter(({ name }) => name !== node.name)
    const isLost = node.record === undefined && node.leaseRenewTime !== undefined
    const { name, leaseRenewTime } = node
    const changes = this.#changesTo(given(node.record), attachments.records)
    this.#head = {
      ...this.#head,
      capturedAt,
      controller: controllerEvidence(this.#head, { ...controller, changes }),
      ...defined({ lostNodes: lost && (isLost ? [...lost, { name, ...defined({ leaseRenewTime }) }] : lost) }),
    }
    replace(this.nodes, this.nodes.of('name', name), given(node.record))
    const stale = [
      this.pods.of('node', name),
      ...pods.namespaces.map((each) => this.pods.of('namespace', each)),
      ...pods.records.map((pod) => this.pods.of('name', namespacedName(pod))),
    ]
    replace(
      this.pods,
      stale.flatMap((same) => [...same]),
      pods.records,
    )
    replace(
      this.claims,
      claims.asked.flatMap((each) => [...this.claims.of('name', namespacedName(each))]),
      claims.records,
    )
    for (const each of new Set([...volumes.asked, ...volumes.records.map((record) => record.name)])) {
      replace(
        this.volumes,
        this.volumes.of('name', each),
        volumes.records.filter((record) => record.name === each),
      )
      for (const attachment of this.attachments.of('persistentVolume', each)) this.#identify(attachment)
    }
    if (attachments.of === undefined) this.#layAttachments(attachments.records)
    else this.putAttachment(attachments.of, attachments.records[0])
  }

  /** Takes a fresh look at a driver in the place of what was known of it. */
  layDriver({ name, drivers, csi, attachers, nodes }: FreshDriver): void {
    const ofOthers = this.#head.attachers.filter((lease) => lastPart(lease.name) !== leaseName(name))
    this.#head = { ...this.#head, drivers, attachers: [...ofOthers, ...attachers] }
    for (const fresh of nodes) replace(this.nodes, this.nodes.of('name', fresh.name), given(fresh.record))
    for (const node of this.nodes.all()) {
      const now = csi.get(node.name) ?? { state: 'absent' }
      if (canonicalJson(now) !== canonicalJson(node.csi)) replace(this.nodes, [node], [{ ...node, csi: now }])
    }
  }

  /** Against what was known of the same. */
  #changesTo(nodes: readonly ClusterNode[], attachments: readonly ClusterAttachment[]): readonly string[] {
    const before = {
      nodes: nodes.flatMap(({ name }) => [...this.nodes.of('name', name)]),
      attachments: attachments.flatMap(({ name }) => [...this.attachments.of('name', name)]),
    }
    return changesBetween(lookedAt(before), { nodes, attachments })
  }

  /** @param record undefined: there is none of this name any more */
  putAttachment(name: string, record: ClusterAttachment | undefined): void {
    for (const each of [...this.attachments.of('name', name)]) this.#removeAttachment(each)
    if (record !== undefined) this.#addAttachment(record)
  }

  /** All of them: those that have not changed stay. */
  #layAttachments(records: readonly ClusterAttachment[]): void {
    const kept = new Set<ClusterAttachment>()
    const fresh: ClusterAttachment[] = []
    for (const record of records) {
      const [known] = this.attachments.of('name', record.name)
      const isSame = known?.uid === record.uid && known.resourceVersion === record.resourceVersion
      if (known !== undefined && isSame && !kept.has(known)) kept.add(known)
      else fresh.push(record)
    }
    for (const each of this.attachments.all()) if (!kept.has(each)) this.#removeAttachment(each)
    for (const each of fresh) this.#addAttachment(each)
  }

  #addAttachment(record: ClusterAttachment): void {
    const own = this.attachments.add(record)
    const times = [timeOf(own.createdAt), timeOf(own.deletedAt)].map((time) => time ?? Number.NEGATIVE_INFINITY)
    this.#times.set(own, Math.max(...times))
    this.#identify(own)
  }

  #removeAttachment(record: ClusterAttachment): void {
    this.attachments.remove(record)
    this.#times.delete(record)
    this.#unidentified.delete(record)
  }

  #identify(attachment: ClusterAttachment): void {
    const { persistentVolume, inline } = attachment
    const [volume, ...others] = persistentVolume === undefined ? [] : this.volumes.of('name', persistentVolume)
    const isFound = others.length === 0 && volume?.uniqueName !== undefined && volume.handle !== undefined
    const isKnown = persistentVolume === undefined ? Boolean(inline?.handle) : isFound
    if (isKnown) this.#unidentified.delete(attachment)
    else this.#unidentified.add(attachment)
  }
}

const ATTACHMENT_KEYS: KeysOf<ClusterAttachment, 'name' | 'node' | 'persistentVolume' | 'inline'> = {
  name: ({ name }) => [name],
  node: ({ node }) => [node],
  persistentVolume: ({ persistentVolume }) => given(persistentVolume),
  inline: inlineName,
}

/** Of an attachment that has its volume in its own spec. */
export function inlineName({ attacher, inline }: ClusterAttachment): readonly string[] {
  return inline?.handle ? [csiUniqueName(inline.driver ?? attacher, inline.handle)] : []
}

/**
 * Against the lease of the first look: one that was renewed since then shows that a controller lives, whatever the clocks say. Signs of
 * an earlier look stay signs.
 */
export function controllerEvidence(
  { controller: before }: Pick<ClusterState, 'controller'>,
  now: ClusterState['controller'],
): ClusterState['controller'] {
  const { lease } = before
  const writes = newestWrites([...(before.writes ?? []), ...(now.writes ?? [])])
  const changes = [...new Set([...(before.changes ?? []), ...(now.changes ?? [])])]
  const signs = {
    ...defined({ otherLeases: now.otherLeases ?? before.otherLeases }),
    ...(writes.length > 0 && { writes }),
    ...(changes.length > 0 && { changes }),
  }
  if (now.lease === undefined || lease === undefined) return { ...now, ...signs }
  return { lease, leaseAtEnd: now.lease, ...signs }
}

/** Of the claims of a pod, namespace/name. */
export function claimsOf({ namespace, volumes }: ClusterPod): readonly string[] {
  return volumes.flatMap((volume) => ('claim' in volume ? [`${namespace}/${volume.claim}`] : []))
}

function driversOf(head: ClusterHead): ClusterObjects {
  return new ClusterObjects({ ...head, nodes: [], pods: [], claims: [], volumes: [], attachments: [] })
}

/** The unique names of the volumes in the spec of a pod: of the cluster only its drivers matter for them. */
function inlineNames(head: ClusterHead): (pod: ClusterPod) => readonly string[] {
  const objects = driversOf(head)
  const none = new Map<string, never>()
  return (pod) =>
    pod.volumes.flatMap((volume) => {
      if (!('source' in volume)) return []
      const resolution = resolvePodVolume(pod, volume, objects, none)
      return 'volume' in resolution ? [resolution.volume.uniqueName] : []
    })
}

function given<T>(value: T | undefined): readonly T[] {
  return value === undefined ? [] : [value]
}

function replace<T extends object, K extends string>(
  table: Table<T, K>,
  stale: Iterable<T>,
  records: readonly T[],
): void {
  for (const each of new Set(stale)) table.remove(each)
  for (const each of records) table.add(each)
}

// Records by several keys at once, changed in place: 150,000 pods are sorted in once, and not for each operation.

/** Under which texts a record is found, by the name of the key. */
type KeysOf<T, K extends string> = Readonly<Record<K, (record: T) => readonly string[]>>

class Table<T extends object, K extends string> {
  readonly #keysOf: KeysOf<T, K>
  readonly #keys: readonly K[]
  readonly #by: Readonly<Record<K, ByText<T>>>
  /** Each record's place in the list. */
  readonly #places = new Map<T, number>()
  #next = 0

  constructor(keysOf: KeysOf<T, K>, records: Iterable<T>) {
    this.#keysOf = keysOf
    this.#keys = Object.keys(keysOf) as K[]
    this.#by = Object.fromEntries(this.#keys.map((key) => [key, new ByText<T>()])) as Record<K, ByText<T>>
    for (const record of records) this.add(record)
  }

  /** In the order of the list. */
  all(): readonly T[] {
    return [...this.#places.keys()]
  }

  /** The records that have this key. */
  of(key: K, text: string): ReadonlySet<T> {
    return this.#by[key].of(text)
  }

  /** @returns the record in the table: another object, where the list has this one twice */
  add(record: T): T {
    const own = this.#places.has(record) ? { ...record } : record
    this.#places.set(own, this.#next++)
    for (const key of this.#keys) for (const text of this.#keysOf[key](own)) this.#by[key].add(text, own)
    return own
  }

  remove(record: T): void {
    this.#places.delete(record)
    for (const key of this.#keys) for (const text of this.#keysOf[key](record)) this.#by[key].remove(text, record)
  }

  /** Some of its records, each once, in the order of the list. */
  inOrder(records: Iterable<T>): readonly T[] {
    return [...new Set(records)].toSorted((a, b) => (this.#places.get(a) ?? 0) - (this.#places.get(b) ?? 0))
  }
}

/** Of almost every text there is one record, which is kept without a set around it: one for each would take more than the records. */
class ByText<T extends object> {
  readonly #records = new Map<string, T | Several<T>>()

  of(text: string): ReadonlySet<T> {
    const found = this.#records.get(text)
    if (found instanceof Several) return found
    return found === undefined ? NOTHING : new Set([found])
  }

  add(text: string, record: T): void {
    const found = this.#records.get(text)
    if (found instanceof Several) found.add(record)
    else if (found !== record) this.#records.set(text, found === undefined ? record : new Several([found, record]))
  }

  remove(text: string, record: T): void {
    const found = this.#records.get(text)
    if (found === record) this.#records.delete(text)
    if (!(found instanceof Several)) return
    found.delete(record)
    if (found.size === 0) this.#records.delete(text)
  }
}

class Several<T> extends Set<T> {}

const NOTHING: ReadonlySet<never> = new Set()
