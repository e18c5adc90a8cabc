import type { Operation, Plan, PodRef, VolumeRef } from './plan.ts'
import { podTexts } from './pod-texts.ts'

/** A screen's names for the operations and pods of one plan: row numbers, and UIDs as short as they are unique. */
export class PlanNames {
  readonly #numbers: ReadonlyMap<string, number>
  readonly #operations: readonly Operation[]
  readonly #pods = new Map<string, PodRef>()
  readonly #podText: (pod: PodRef) => string

  constructor({ operations, waiting = [], problems = [] }: Pick<Plan, 'operations'> & Partial<Plan>) {
    this.#operations = operations
    this.#numbers = new Map(operations.map(({ id }, index) => [id, index + 1]))
    for (const { pod } of [...operations, ...waiting]) if (pod !== undefined) this.#pods.set(pod.uid, pod)
    for (const { about } of problems)
      if (about.pod !== undefined && !this.#pods.has(about.pod))
        this.#pods.set(about.pod, about.podRef ?? { uid: about.pod })
    this.#podText = podTexts([...this.#pods.values()])
  }

  /** The row of an operation, from 1. */
  number(id: string): number | undefined {
    return this.#numbers.get(id)
  }

  operation(id: string): Operation | undefined {
    return this.#operations[(this.#numbers.get(id) ?? 0) - 1]
  }

  /** Columns that the longest number takes. */
  get numberWidth(): number {
    return `${this.#operations.length}`.length
  }

  numbers(ids: readonly string[]): number[] {
    return ids.flatMap((id) => this.#numbers.get(id) ?? []).toSorted((a, b) => a - b)
  }

  /** `shop/web-0`; with the beginning of the UID if another pod has the same name; only that if the name is unknown. */
  podText(pod: PodRef): string {
    return this.#podText(pod)
  }
}

/** A volume's name in its pod; without a pod, its PersistentVolume's name, otherwise its name on disk. */
export function shownVolume({ pod, volume }: { readonly pod?: PodRef; readonly volume?: VolumeRef }): string {
  if (volume === undefined) return '-'
  return (pod === undefined ? volume.persistentVolume : volume.podVolumeName) ?? volume.name
}
