/** Whose a finding is: the one place that answers it, by the subject that the finding was made with. */

import { lazy } from '../base/memoize.ts'
import { type PodUid, type RowKey, rowOf, type Subject } from '../plan/subject.ts'
import type { Ledger } from './ledger.ts'
import type { VolumeRow } from './row.ts'
import { meets, type Part } from './row.ts'

/** What is asked about. */
export interface Scope {
  /** UIDs of pods that are asked about as a whole. */
  readonly pods: readonly PodUid[]
  /** UIDs: what other pods than these do with the volumes is left out; empty: nothing is. */
  readonly only: readonly PodUid[]
  readonly volumes: readonly VolumeRow[]
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
}

/** Which findings belong to what is asked about. */
export class ScopeTest {
  readonly #ledger: Ledger
  readonly #scope: Scope
  readonly #keys: ReadonlySet<RowKey>
  readonly #pods: ReadonlySet<PodUid>
  readonly #paths: readonly ((subject: Subject) => boolean)[]

  constructor(scope: Scope, ledger: Ledger) {
    this.#ledger = ledger
    this.#scope = scope
    this.#keys = new Set(scope.volumes.map(({ key }) => key))
    this.#pods = new Set(scope.pods)
    this.#paths = scope.paths.map((path) => meetsPath(ledger, path))
  }

  /** Of operations, waits and decisions: what is its own. @param subject absent: of a plan that says of nothing whose it is */
  has(subject: Subject | undefined): boolean {
    return this.#scope.driver?.rows.has(rowOf(subject) ?? '') || this.#isOwn(subject)
  }

  #isOwn(subject: Subject | undefined): boolean {
    const { node, driver } = this.#scope
    if (node) return true
    if (subject === undefined) return false
    if (this.#paths.some((isMet) => isMet(subject))) return true
    if ('row' in subject) {
      if (subject.pod !== undefined && this.#pods.has(subject.pod)) return true
      return this.#keys.has(subject.row) && this.#mayBe(subject.pod)
    }
    if ('pod' in subject) return this.#pods.has(subject.pod)
    if ('driver' in subject) return subject.driver === driver?.name
    return 'path' in subject && driver?.sockets.includes(subject.path) === true
  }

  /**
   * Of problems: also what is wrong with what it needs: its driver, a pod that has it, the pod's directory. A driver needs none of
   * these.
   */
  concerns(subject: Subject | undefined): boolean {
    if (this.#isOwn(subject)) return true
    if (subject === undefined) return false
    const { volumes, driver } = this.#scope
    if (driver !== undefined) return false
    if ('driver' in subject) return volumes.some(({ identity }) => identity?.driver === subject.driver)
    if ('path' in subject) return this.#pods.has(this.#ledger.podAt(subject.path) ?? '')
    if ('row' in subject || !('pod' in subject)) return false
    return this.#mayBe(subject.pod) && volumes.some(({ podUids }) => podUids.has(subject.pod))
  }

  #mayBe(uid: PodUid | undefined): boolean {
    const { only } = this.#scope
    return uid === undefined || only.length === 0 || only.includes(uid)
  }
}

/** Whether what a finding is about lies at a path, above or below, by the volumes there. */
function meetsPath(ledger: Ledger, path: string): (subject: Subject) => boolean {
  const parts = lazy(
    () => new Set([...ledger.partsAt(path), ...ledger.partsBelow(path), ...ledger.wantedBelow(path)].map(keyOf)),
  )
  return (subject) => {
    if ('path' in subject) return meets(subject.path, path)
    if ('row' in subject) return parts().has(keyOf(subject))
    return 'pod' in subject && meets(ledger.podDirectory(subject.pod), path)
  }
}

function keyOf({ row, pod = '' }: Part): string {
  return `${pod} ${row}`
}

/** What is shown of a volume alone: one pod's part of it, or the node's. */
interface Shown {
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
  of(subject: Subject | undefined): readonly T[] {
    return subject !== undefined && 'row' in subject ? (this.#byKey.get(keyOf(subject)) ?? []) : []
  }

  /** Problems: what is wrong with a pod or a driver is wrong with all of its volumes. */
  ofProblem(subject: Subject | undefined): readonly T[] {
    if (subject === undefined) return []
    if ('row' in subject) {
      const own = this.of(subject)
      return own.length > 0 || subject.pod !== undefined ? own : (this.#byRow.get(subject.row) ?? [])
    }
    if ('pod' in subject) return this.#byPod.get(subject.pod) ?? []
    return 'driver' in subject ? (this.#byDriver.get(subject.driver) ?? []) : []
  }
}
