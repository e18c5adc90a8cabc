import { AsyncLocalStorage } from 'node:async_hooks'
import { Interrupted } from '../messages/findings.ts'
import { io } from '../trust/run.ts'
import { wrapped } from '../views/screen.ts'
import { messages, standardOutput } from './output.ts'

/**
 * Signals of an apply (contract: 130). The first SIGINT or SIGTERM stops the starting of operations, the second leaves
 * at once. A hang-up lets the apply finish: the line to the node broke, the work must not stop half-way.
 */
export class Interrupts implements Disposable {
  readonly #stop = new AbortController()
  readonly #abandon = new AbortController()
  /** Aborted: start nothing more. */
  readonly stop = this.#stop.signal
  /** Aborted: leave, naming what is unfinished. */
  readonly abandon = this.#abandon.signal
  readonly #signals = io().signals
  readonly #output = standardOutput()
  // A signal belongs to no run.
  readonly #onSignal = AsyncLocalStorage.bind(() => this.#next())
  readonly #ignore = (): void => undefined

  constructor() {
    this.#signals.on('SIGINT', this.#onSignal).on('SIGTERM', this.#onSignal).on('SIGHUP', this.#ignore)
  }

  /** Waits for what comes before the first operation: an interruption there leaves with nothing changed. */
  async orInterrupted<T>(work: Promise<T>): Promise<T> {
    work.catch(() => undefined)
    const interrupted = new Promise<never>((_, reject) => {
      this.stop.addEventListener('abort', () => reject(new Interrupted()))
    })
    return await Promise.race([work, interrupted])
  }

  [Symbol.dispose](): void {
    this.#signals.off('SIGINT', this.#onSignal).off('SIGTERM', this.#onSignal).off('SIGHUP', this.#ignore)
  }

  #next(): void {
    if (!this.stop.aborted) {
      const says =
        'Interrupted: no further operation is started; waiting for those in progress. Interrupt again to leave at once.'
      messages.write(wrapped('', says, messages.columns))
      this.#stop.abort()
    } else {
      this.#abandon.abort()
      this.#output.hurry()
    }
  }
}
