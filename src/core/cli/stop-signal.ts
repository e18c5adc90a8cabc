/** For commands that only look: the first SIGINT or SIGTERM ends them, with status 130. */
export class StopSignal implements Disposable {
  readonly #abort = new AbortController()
  readonly #onSignal = (): void => this.#abort.abort()

  constructor() {
    process.on('SIGINT', this.#onSignal).on('SIGTERM', this.#onSignal)
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  [Symbol.dispose](): void {
    process.off('SIGINT', this.#onSignal).off('SIGTERM', this.#onSignal)
  }
}
