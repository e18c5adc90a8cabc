/** Selects the findings that belong to a volume, pod or path, by the subject that each was made with. */

import { Grouped, lazy } from '../base/collections.ts'
import { isWithin } from '../linux/paths.ts'
import { type PodUid, rowOf, type Subject } from '../volumes/finding.ts'
import type { Ledger } from './ledger.ts'
import type { Part, VolumeRow } from './row.ts'

/** What is asked about. */
export interface Scope {
  /** UIDs of pods that are asked about as a whole. */
  readonly pods: readonly PodUid[]
  /** UIDs: what other pods than these do with the volumes is left out; empty: nothing is. Default: `pods`. */
  readonly only?: readonly PodUid[]
  readonly volumes: readonly VolumeRow[]
  /** Absolute: what was asked about, where it was a path. */
  readonly paths?: readonly string[]
  /** A CSI driver: all that is planned, waited for or wrong with its volumes. */
  readonly driver?: { readonly name: string; readonly sockets: readonly string[] }
}

/** Which findings belong to what is asked about. */
export function scopeTest({ pods, only = pods, volumes, paths = [], driver }: Scope, ledger: Ledger) {
  const keys = new Set(volumes.map(({ key }) => key))
  const ofDriver = new Set(driver && ledger.concerningDriver(driver.name).map(({ key }) => key))
  const asked = new Set(pods)
  const places = paths.map((path) => meetsPath(ledger, path))
  const mayBe = (uid: PodUid | undefined): boolean => uid === undefined || only.length === 0 || only.includes(uid)

  function isOwn(subject: Subject | undefined): boolean {
    if (subject === undefined) return false
    if (places.some((isMet) => isMet(subject))) return true
    if ('row' in subject) {
      if (subject.pod !== undefined && asked.has(subject.pod)) return true
      return keys.has(subject.row) && mayBe(subject.pod)
    }
    if ('pod' in subject) return asked.has(subject.pod)
    if ('driver' in subject) return subject.driver === driver?.name
    return 'path' in subject && driver?.sockets.includes(subject.path) === true
  }

  return {
    /** Of operations, waits and decisions: what is its own. @param subject absent: of a plan that says of nothing whose it is */
    has: (subject: Subject | undefined): boolean => ofDriver.has(rowOf(subject) ?? '') || isOwn(subject),
    /**
     * Of problems: also what is wrong with what it needs: its driver, a pod that has it, the pod's directory. A driver needs none of
     * these.
     */
    concerns: (subject: Subject | undefined): boolean => {
      if (isOwn(subject)) return true
      if (subject === undefined || driver !== undefined) return false
      if ('driver' in subject) return volumes.some(({ identity }) => identity?.driver === subject.driver)
      if ('path' in subject) return asked.has(ledger.podAt(subject.path) ?? '')
      if ('row' in subject || !('pod' in subject)) return false
      return mayBe(subject.pod) && volumes.some(({ podUids }) => podUids.has(subject.pod))
    },
  }
}

/** Whether what a finding is about lies at a path, above or below, by the volumes there. */
function meetsPath(ledger: Ledger, path: string): (subject: Subject) => boolean {
  const parts = lazy(
    () => new Set([...ledger.partsAt(path), ...ledger.partsBelow(path), ...ledger.wantedBelow(path)].map(keyOf)),
  )
  // Below the host's root directory is everything.
  const meets = (other: string): boolean => isWithin(path, other) || (path !== '/' && isWithin(other, path))
  return (subject) => {
    if ('path' in subject) return meets(subject.path)
    if ('row' in subject) return parts().has(keyOf(subject))
    return 'pod' in subject && meets(ledger.sources.inputs.absolute(`pods/${subject.pod}`))
  }
}

function keyOf({ row, pod = '' }: Part): string {
  return `${pod} ${row}`
}

/** What is shown of a volume alone: one pod's part of it, or the node's. */
interface Shown {
  readonly volume: VolumeRow
  /** Absent: the node's own part. */
  readonly pod: { readonly uid: PodUid } | undefined
}

/** Which of the parts that are shown a finding is of: indexed, as a node has thousands of both. */
export class SharesOf<T extends Shown> {
  readonly #by = new Grouped<string, T>()

  constructor(shown: readonly T[]) {
    for (const each of shown) {
      const { volume, pod } = each
      this.#by.add(`part ${keyOf({ row: volume.key, pod: pod?.uid })}`, each)
      this.#by.add(`row ${volume.key}`, each)
      this.#by.add(`pod ${pod?.uid}`, each)
      this.#by.add(`driver ${volume.identity?.driver}`, each)
    }
  }

  /** Operations, waits and decisions. */
  of(subject: Subject | undefined): readonly T[] {
    return subject !== undefined && 'row' in subject ? this.#by.of(`part ${keyOf(subject)}`) : []
  }

  /** Problems: what is wrong with a pod or a driver is wrong with all of its volumes. */
  ofProblem(subject: Subject | undefined): readonly T[] {
    if (subject === undefined) return []
    if ('row' in subject) {
      const own = this.of(subject)
      return own.length > 0 || subject.pod !== undefined ? own : this.#by.of(`row ${subject.row}`)
    }
    if ('pod' in subject) return this.#by.of(`pod ${subject.pod}`)
    return 'driver' in subject ? this.#by.of(`driver ${subject.driver}`) : []
  }
}
