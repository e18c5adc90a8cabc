/**
 * Which operation may run now: predecessors first, never two at once on one volume or one pod's directory (C119).
 * Pure bookkeeping; nothing here knows what an operation does.
 */
import { memoize } from '../base/collections.ts'
import { isFulfilled, type Outcome } from '../plan/events.ts'
import type { Operation } from '../plan/plan.ts'
import type { PluginDevice } from '../volumes/plugin.ts'
import { pluginNamed } from '../volumes/registry.ts'

/** Names of things that only one operation at a time may work on. */
export const keysOf = memoize((operation: Operation): readonly string[] => {
  const { kind, pod, volume } = operation
  const keys = pod === undefined ? [] : [`pod ${pod.uid}`]
  if (volume?.driver !== undefined && volume.handle !== undefined) keys.push(`volume ${volume.driver}^${volume.handle}`)
  else if (volume?.uniqueName !== undefined) keys.push(`volume ${volume.uniqueName}`)
  // LUNs share sessions, and releasing one asks whether the others are in use: so one after the other (P76).
  const releasesDevice = kind === 'UnmountDevice' || kind === 'UnmapDevice'
  if (releasesDevice && volume !== undefined && deviceOf(operation)?.release !== undefined) keys.push(volume.plugin)
  // If a call on one target hangs, only that target's are held back.
  keys.push(...sessionsOf(operation))
  return keys
})

function deviceOf({ volume }: Operation): PluginDevice | undefined {
  return volume === undefined ? undefined : pluginNamed(volume.plugin).device
}

function sessionsOf(operation: Operation): ReadonlySet<string> {
  const sessionAt = deviceOf(operation)?.session
  return new Set(sessionAt === undefined ? [] : operation.steps.flatMap(({ target }) => sessionAt(target) ?? []))
}

/**
 * What an abandoned call may still be changing. If it is known which target hangs, the LUNs of all other targets can go on.
 */
function stuckKeysOf(operation: Operation, keys: readonly string[]): readonly string[] {
  const sharesSessions = deviceOf(operation)?.session !== undefined
  const isKnown = sharesSessions ? sessionsOf(operation).size > 0 : keys.length > 1
  return isKnown ? keys.filter((key) => key !== operation.volume?.plugin) : keys
}

type Outcomes = ReadonlyMap<string, Pick<Outcome, 'state' | 'because'>>

export class Schedule {
  readonly #outcomes: Outcomes
  readonly #waiting: Map<string, Operation>
  readonly #batchable: ReadonlySet<Operation>
  /** Operations that others depend on. */
  readonly #needed: ReadonlySet<string>
  readonly #busy = new Map<string, number>()
  readonly #stuck = new Set<string>()
  readonly #running = new Set<string>()
  /** True if anything has failed since the last call of drop(). */
  #failed = true

  /** @param outcomes of what has ended, also of what settle() is called for */
  constructor(
    operations: readonly Operation[],
    outcomes: Outcomes,
    isBatchable: (operation: Operation) => boolean = () => false,
  ) {
    this.#outcomes = outcomes
    this.#batchable = new Set(operations.filter(isBatchable))
    this.#needed = new Set(operations.flatMap(({ after }) => after))
    this.#waiting = new Map(operations.map((operation) => [operation.id, operation]))
  }

  get waiting(): Iterable<Operation> {
    return this.#waiting.values()
  }

  /**
   * Operations that may start now, in plan order: none that shares a volume or a pod with a running one.
   *
   * @param batchable true: those that may share a batch; false: those that run alone; absent: both
   */
  *ready(batchable?: boolean): Generator<Operation> {
    for (const operation of this.waiting) {
      if (batchable !== undefined && this.#batchable.has(operation) !== batchable) continue
      const mayStart = operation.after.every((id) => this.#isFulfilled(id))
      if (mayStart && !keysOf(operation).some((key) => this.#busy.has(key))) yield operation
    }
  }

  start(operation: Operation): void {
    this.#waiting.delete(operation.id)
    this.#running.add(operation.id)
    for (const key of keysOf(operation)) this.#busy.set(key, (this.#busy.get(key) ?? 0) + 1)
  }

  /** @param stuck an abandoned call may still be running: nothing else is done to this volume or pod */
  settle(operation: Operation, stuck = false): void {
    const { id } = operation
    this.#waiting.delete(id)
    this.#failed ||= stuck || (!this.#isFulfilled(id) && this.#needed.has(id))
    if (!this.#running.delete(id)) return
    const keys = keysOf(operation)
    if (stuck) for (const key of stuckKeysOf(operation, keys)) this.#stuck.add(key)
    for (const key of keys) {
      const users = (this.#busy.get(key) ?? 1) - 1
      if (users > 0) this.#busy.set(key, users)
      else this.#busy.delete(key)
    }
  }

  /**
   * Operations whose predecessor did not succeed or is not in the plan (S26), and in turn those that depend on them. Each is to be
   * settled as skipped before the next is asked for. `because`: what came first, and did not succeed; with `stuck`, what a call is about
   * that was abandoned, and may still be running.
   */
  *drop() {
    while (this.#failed) {
      this.#failed = false
      for (const operation of this.waiting) {
        const because = operation.after.find((id) => this.#hasFailed(id))
        const stuck = because === undefined ? keysOf(operation).find((key) => this.#stuck.has(key)) : undefined
        if (because !== undefined) yield { operation, because }
        else if (stuck !== undefined) yield { operation, because: stuck, stuck: true }
      }
    }
  }

  #isFulfilled(id: string): boolean {
    const outcome = this.#outcomes.get(id)
    return outcome !== undefined && isFulfilled(outcome)
  }

  #hasFailed(id: string): boolean {
    return !this.#waiting.has(id) && !this.#running.has(id) && !this.#isFulfilled(id)
  }
}
