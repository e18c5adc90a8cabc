/** For commands that only look: the first SIGINT or SIGTERM (or another that is named) ends them, with status 130. */
export class StopSignal implements Disposable {
  readonly #abort = new AbortController()
  readonly #onSignal = (): void => this.#abort.abort()

  readonly #signals: readonly NodeJS.Signals[]

  constructor(signals: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM']) {
    this.#signals = signals
    for (const signal of signals) process.on(signal, this.#onSignal)
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  [Symbol.dispose](): void {
    for (const signal of this.#signals) process.off(signal, this.#onSignal)
  }
}
