import type { Operation, Plan, PodRef, VolumeRef } from './plan.ts'
import { namespacedName } from './pod-name.ts'

/** Docker's and crictl's users know their ids by fewer; eight is what a UUID has before its first hyphen. */
const LEAST = 8

/** What a screen calls the operations and the pods of one plan: row numbers, and UIDs as short as they are unique. */
export class PlanNames {
  readonly #numbers: ReadonlyMap<string, number>
  readonly #operations: readonly Operation[]
  readonly #short: ReadonlyMap<string, string>
  readonly #pods = new Map<string, PodRef>()
  /** Names that two pods have: one was deleted, and another took its place. */
  readonly #twice: ReadonlySet<string>

  constructor({ operations, waiting = [], problems = [] }: Pick<Plan, 'operations'> & Partial<Plan>) {
    this.#operations = operations
    this.#numbers = new Map(operations.map(({ id }, index) => [id, index + 1]))
    for (const { pod } of [...operations, ...waiting]) if (pod !== undefined) this.#pods.set(pod.uid, pod)
    for (const { about } of problems)
      if (about.pod !== undefined && !this.#pods.has(about.pod)) this.#pods.set(about.pod, { uid: about.pod })
    this.#short = shortest([...this.#pods.keys()])
    this.#twice = twice([...this.#pods.values()].flatMap((pod) => nameOf(pod) ?? []))
  }

  /** The row of an operation, from 1. */
  number(id: string): number | undefined {
    return this.#numbers.get(id)
  }

  operation(id: string): Operation | undefined {
    return this.#operations[(this.#numbers.get(id) ?? 0) - 1]
  }

  /** How many columns the longest number takes. */
  get numberWidth(): number {
    return `${this.#operations.length}`.length
  }

  numbers(ids: readonly string[]): number[] {
    return ids.flatMap((id) => this.#numbers.get(id) ?? []).toSorted((a, b) => a - b)
  }

  /** The pod with its name, if any operation or wait has it. */
  pod(uid: string): PodRef {
    return this.#pods.get(uid) ?? { uid }
  }

  /** `shop/web-0`; with the UID's beginning where another pod has the same name; that alone where the name is not known. */
  podText(pod: PodRef): string {
    const short = this.#short.get(pod.uid) ?? pod.uid
    const name = nameOf(pod)
    if (name === undefined) return short
    return this.#twice.has(name) ? `${name} (${short})` : name
  }
}

/** A volume as its pod calls it; one of no pod by its PersistentVolume, and else by its name on disk. */
export function shownVolume({ pod, volume }: { readonly pod?: PodRef; readonly volume?: VolumeRef }): string {
  if (volume === undefined) return '-'
  return (pod === undefined ? volume.persistentVolume : volume.podVolumeName) ?? volume.name
}

function nameOf(pod: PodRef): string | undefined {
  return pod.name === undefined ? undefined : namespacedName(pod)
}

function twice(names: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>()
  return new Set(names.filter((name) => seen.size === seen.add(name).size))
}

/** The shortest beginning of each that no other one has. */
function shortest(uids: readonly string[]): ReadonlyMap<string, string> {
  const sorted = uids.toSorted()
  return new Map(
    sorted.map((uid, index) => {
      const shared = Math.max(sharedLength(uid, sorted[index - 1]), sharedLength(uid, sorted[index + 1]))
      return [uid, uid.slice(0, Math.max(shared + 1, LEAST))]
    }),
  )
}

function sharedLength(a: string, b: string | undefined): number {
  let length = 0
  while (b !== undefined && length < a.length && a[length] === b[length]) length++
  return length
}
