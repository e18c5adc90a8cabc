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
