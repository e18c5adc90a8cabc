/** How long one operation may wait for others (--timeout): the kernel, drivers, the API. */
import { StepTimedOut } from '../base/operation-error.ts'

/** All waiting of an operation together counts; volctl's own work on many files does not. */
export class WaitingBudget {
  readonly limitMs: number
  readonly #now: () => number
  #spentMs = 0

  /** @param now for tests */
  constructor(limitMs: number, now: () => number = () => performance.now()) {
    this.limitMs = limitMs
    this.#now = now
  }

  get isSpent(): boolean {
    return this.#leftMs <= 0
  }

  /**
   * Calls with the milliseconds that are left.
   *
   * @throws StepFailed TimedOut, without calling, if no time is left
   */
  async spend<T>(call: (ms: number) => Promise<T>): Promise<T> {
    if (this.isSpent) {
      throw new StepTimedOut(
        `the operation has waited for ${this.limitMs / 1000} s (--timeout), and not all of its calls are made`,
      )
    }
    const began = this.#now()
    try {
      return await call(this.#leftMs)
    } finally {
      this.#spentMs += this.#now() - began
    }
  }

  /** Grants this much more time: for undoing half-made work, regardless of the time spent. */
  leaveAtLeast(ms: number): void {
    this.#spentMs = Math.min(this.#spentMs, this.limitMs - Math.min(ms, this.limitMs))
  }

  get #leftMs(): number {
    return Math.round(this.limitMs - this.#spentMs)
  }
}
