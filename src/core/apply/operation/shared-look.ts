/**
 * The look for users of what the plan's steps are about. Deletions that begin within a short time share a look: an apply may have thousands (S12,
 * S26).
 */
import type { ContentLook } from '../../holders/content-look.ts'
import { fileSystemsAt } from '../../holders/find-holders.ts'
import { hostPathsOf } from '../../holders/host-paths.ts'
import type { LayerNotes } from '../../holders/placed-layers.ts'
import type { Host } from '../../host/host.ts'
import type { Pod } from '../../model/objects.ts'
import type { Plan } from '../../plan/plan.ts'
import { isEmptyDir } from './empty-dir.ts'
import type { ApplyContext } from './ports.ts'
import { processReaderOf } from './process-reader-of.ts'

/** An answer that several operations may share for a short time. */
export class Shared<T> {
  readonly #ask: () => Promise<T>
  #asked = Number.NEGATIVE_INFINITY
  #answer: Promise<T> | undefined

  constructor(ask: () => Promise<T>) {
    this.#ask = ask
  }

  /** The last answer if it is no older than this, otherwise a new one. */
  get(maxAgeMs: number): Promise<T> {
    const now = performance.now()
    if (this.#answer === undefined || now - this.#asked > maxAgeMs) {
      this.#asked = now
      this.#answer = this.#ask()
      this.#answer.catch(() => {
        this.#answer = undefined
      })
    }
    return this.#answer
  }
}

/** A look is valid for this long; if it took longer (a node with thousands of processes), for as long as it took. */
const AGE_MS = 200
const MOST_AGE_MS = 1000
/** If something cannot be seen, every deletion is refused. With a process that hangs, each look takes the whole limit, so it is not repeated soon. */
const REFUSING_AGE_MS = 30_000

export class SharedLook {
  readonly #plan: Plan
  readonly #context: ApplyContext
  readonly #host: Host
  readonly #pods: () => Promise<readonly Pod[]>
  readonly #noted: LayerNotes | undefined
  #look: Promise<ContentLook> | undefined
  #begun = Number.NEGATIVE_INFINITY
  #until = Number.NEGATIVE_INFINITY

  /** Begun before anything is unmounted. @param pods that may still use their volumes, as last heard */
  constructor(plan: Plan, context: ApplyContext, host: Host, pods: () => Promise<readonly Pod[]>) {
    this.#plan = plan
    this.#context = context
    this.#host = host
    this.#pods = pods
    const deletes = plan.operations.some(
      (each) => isEmptyDir(each) || each.steps.some(({ op }) => op === 'deleteContent'),
    )
    this.#noted = deletes ? host.noteLayers(context.readMounts()) : undefined
  }

  /** @param since a look that began before is of no use; default: a recent one is */
  get(since = this.#begun): Promise<ContentLook> {
    if (this.#look !== undefined && performance.now() < this.#until && this.#begun >= since) return this.#look
    const begun = performance.now()
    this.#begun = begun
    // Callers that ask meanwhile wait for this look.
    this.#until = Number.POSITIVE_INFINITY
    const look = this.#take()
    this.#look = look
    const ended = ({ unseen }: ContentLook): void => {
      const now = performance.now()
      this.#until = now + (unseen.length > 0 ? REFUSING_AGE_MS : Math.min(Math.max(AGE_MS, now - begun), MOST_AGE_MS))
    }
    look.then(ended, () => {
      this.#until = Number.NEGATIVE_INFINITY
    })
    return look
  }

  async #take(): Promise<ContentLook> {
    const table = this.#context.readMounts()
    const places = this.#plan.operations.flatMap(({ steps }) => steps.map(({ target }) => target))
    const fileSystems = fileSystemsAt(
      table,
      places.filter((target) => target.startsWith('/')),
    )
    const named = hostPathsOf(await this.#pods())
    const reader = processReaderOf(this.#context)
    return this.#host.lookForUsers({ table, fileSystems: [...fileSystems], named, noted: this.#noted, reader })
  }
}
