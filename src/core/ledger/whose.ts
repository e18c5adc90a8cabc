/** Whose a finding is: the one place that answers it, by the subject that the finding was made with. */

import { append } from '../lang/append.ts'
import { type AnySubject, type PodUid, podOf, type RowKey, rowsOf } from '../plan/subject.ts'
import type { Ledger } from './ledger.ts'
import { meets, type Part } from './places.ts'
import type { VolumeRow } from './row.ts'

/** A volume of a node's or of a cluster's ledger, as far as it says whose a finding is. */
export interface ScopeRow {
  readonly key: RowKey
  /** Of all pods that want it, or have something of it. */
  readonly podUids: ReadonlySet<PodUid>
  readonly identity?: { readonly driver: string } | undefined
  /** These of a cluster's. */
  readonly node?: string
  readonly claim?: string
  readonly persistentVolume?: unknown
}

/** What is asked about. */
export interface Scope<Row extends ScopeRow = VolumeRow> {
  /** UIDs of pods that are asked about as a whole. */
  readonly pods: readonly PodUid[]
  /** UIDs: what other pods than these do with the volumes is left out; empty: nothing is. */
  readonly only: readonly PodUid[]
  readonly volumes: readonly Row[]
  /** Absolute: what was asked about, where it was a path. */
  readonly paths: readonly string[]
  /** The node as a whole: all of the plan. */
  readonly node?: true
  /** A CSI driver: all that is planned, waited for or wrong with its volumes. */
  readonly driver?: {
    readonly name: string
    readonly sockets: readonly string[]
    readonly rows: ReadonlySet<RowKey>
  }
  /** Of a cluster: nodes as a whole. */
  readonly nodes?: readonly string[]
  /** Of a cluster: volumes on other nodes that belong to it, too. */
  readonly elsewhere?: readonly RowKey[]
  /** Of a cluster: its volumes on whichever node. What is wrong with them on several nodes concerns it. */
  readonly same?: ReadonlySet<RowKey>
}

/** Which findings belong to what is asked about. */
export class ScopeTest {
  readonly #ledger: Ledger | undefined
  readonly #scope: Scope<ScopeRow>
  readonly #keys: ReadonlySet<RowKey>
  readonly #pods: ReadonlySet<PodUid>
  readonly #paths: readonly PathTest[]

  /** @param ledger of a node; a cluster has no paths */
  constructor(scope: Scope<ScopeRow>, ledger?: Ledger) {
    this.#ledger = ledger
    this.#scope = scope
    this.#keys = new Set([...scope.volumes.map(({ key }) => key), ...(scope.elsewhere ?? [])])
    this.#pods = new Set(scope.pods)
    this.#paths = ledger === undefined ? [] : scope.paths.map((path) => new PathTest(ledger, path))
  }

  /** Of operations, waits and decisions: what is its own. @param subject absent: of a plan that says of nothing whose it is */
  has(subject: AnySubject | undefined): boolean {
    const { driver } = this.#scope
    return rowsOf(subject).some((key) => driver?.rows.has(key)) || this.#isOwn(subject)
  }

  #isOwn(subject: AnySubject | undefined): boolean {
    const { node, driver, nodes = [] } = this.#scope
    if (node) return true
    if (subject === undefined) return false
    if (this.#paths.some((path) => path.meets(subject))) return true
    if ('row' in subject) {
      if (subject.pod !== undefined && this.#pods.has(subject.pod)) return true
      return this.#keys.has(subject.row) && this.#mayBe(subject.pod)
    }
    if ('rows' in subject) return subject.rows.some((key) => this.#keys.has(key))
    if ('pod' in subject) return this.#pods.has(subject.pod)
    if ('driver' in subject) return subject.driver === driver?.name
    if ('nodes' in subject) return subject.nodes.some((each) => nodes.includes(each))
    return 'path' in subject && driver?.sockets.includes(subject.path) === true
  }

  /**
   * Of problems: also what is wrong with what it needs: its PersistentVolume, claim, driver and node, a pod that has it, the pod's
   * directory. A driver and a node need none of these.
   */
  concerns(subject: AnySubject | undefined): boolean {
    if (this.#isOwn(subject)) return true
    if (subject === undefined) return false
    const { volumes, driver, nodes, same } = this.#scope
    if (driver !== undefined || nodes !== undefined) return false
    if ('driver' in subject) return volumes.some(({ identity }) => identity?.driver === subject.driver)
    if ('path' in subject) return this.#pods.has(this.#ledger?.podAt(subject.path) ?? '')
    if ('persistentVolume' in subject)
      return volumes.some(({ persistentVolume }) => persistentVolume === subject.persistentVolume)
    if ('nodes' in subject) return volumes.some(({ node }) => node !== undefined && subject.nodes.includes(node))
    if ('claim' in subject) return volumes.some(({ claim }) => claim === subject.claim)
    if ('rows' in subject) return subject.rows.some((key) => same?.has(key))
    if ('row' in subject || !('pod' in subject)) return false
    return this.#mayBe(subject.pod) && volumes.some(({ podUids }) => podUids.has(subject.pod))
  }

  #mayBe(uid: PodUid | undefined): boolean {
    const { only } = this.#scope
    return uid === undefined || only.length === 0 || only.includes(uid)
  }
}

/** A path that is asked about, and the volumes that lie there, above or below. */
class PathTest {
  readonly #ledger: Ledger
  readonly #path: string
  #parts: ReadonlySet<string> | undefined

  constructor(ledger: Ledger, path: string) {
    this.#ledger = ledger
    this.#path = path
  }

  meets(subject: AnySubject): boolean {
    if ('path' in subject) return meets(subject.path, this.#path)
    if ('row' in subject) return this.#all.has(keyOf(subject))
    return 'pod' in subject && meets(this.#ledger.podDirectory(subject.pod), this.#path)
  }

  get #all(): ReadonlySet<string> {
    const ledger = this.#ledger
    this.#parts ??= new Set(
      [...ledger.partsAt(this.#path), ...ledger.partsBelow(this.#path), ...ledger.wantedBelow(this.#path)].map(keyOf),
    )
    return this.#parts
  }
}

function keyOf({ row, pod = '' }: Part): string {
  return `${pod} ${row}`
}

/** What is shown of a volume alone: one pod's part of it, or the node's. */
export interface Shown {
  readonly volume: VolumeRow
  /** Absent: the node's own part. */
  readonly podUid: PodUid | undefined
}

/** Which of the parts that are shown a finding is of: indexed, as a node has thousands of both. */
export class SharesOf<T extends Shown> {
  readonly #byKey: ReadonlyMap<string, readonly T[]>
  readonly #byRow: ReadonlyMap<RowKey, readonly T[]>
  readonly #byPod: ReadonlyMap<PodUid | undefined, readonly T[]>
  readonly #byDriver: ReadonlyMap<string | undefined, readonly T[]>

  constructor(shown: readonly T[]) {
    this.#byRow = Map.groupBy(shown, ({ volume }) => volume.key)
    this.#byPod = Map.groupBy(shown, ({ podUid }) => podUid)
    this.#byDriver = Map.groupBy(shown, ({ volume }) => volume.identity?.driver)
    this.#byKey = Map.groupBy(shown, ({ volume, podUid }) =>
      keyOf(podUid === undefined ? { row: volume.key } : { row: volume.key, pod: podUid }),
    )
  }

  /** Operations, waits and decisions. */
  of(subject: AnySubject | undefined): readonly T[] {
    return subject !== undefined && 'row' in subject ? (this.#byKey.get(keyOf(subject)) ?? []) : []
  }

  /** Problems: what is wrong with a pod or a driver is wrong with all of its volumes. */
  ofProblem(subject: AnySubject | undefined): readonly T[] {
    if (subject === undefined) return []
    if ('row' in subject) {
      const own = this.of(subject)
      return own.length > 0 || subject.pod !== undefined ? own : (this.#byRow.get(subject.row) ?? [])
    }
    if ('pod' in subject) return this.#byPod.get(subject.pod) ?? []
    return 'driver' in subject ? (this.#byDriver.get(subject.driver) ?? []) : []
  }
}

/** Findings by the volumes and pods that they are about: a cluster has tens of thousands of both. */
export class FindingsOf<F extends { readonly subject?: AnySubject }> {
  readonly #byRow = new Map<RowKey, F[]>()
  readonly #byPod = new Map<PodUid, F[]>()
  readonly #places: ReadonlyMap<F, number>

  constructor(findings: readonly F[]) {
    this.#places = new Map(findings.map((each, place) => [each, place]))
    for (const each of findings) {
      for (const row of rowsOf(each.subject)) append(this.#byRow, row, each)
      const pod = podOf(each.subject)
      if (pod !== undefined) append(this.#byPod, pod, each)
    }
  }

  /** In their order. @param pods what is said of these belongs to the row as well */
  of(row: RowKey, pods: readonly PodUid[]): readonly F[] {
    const own = [...(this.#byRow.get(row) ?? []), ...pods.flatMap((pod) => this.#byPod.get(pod) ?? [])]
    const placeOf = (each: F): number => this.#places.get(each) ?? 0
    return [...new Set(own)].toSorted((a, b) => placeOf(a) - placeOf(b))
  }
}
