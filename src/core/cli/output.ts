import type { Writable } from 'node:stream'
import { errnoOf, errorMessage, VolctlError } from '../errors.ts'

/**
 * Standard output carries the answer alone (contract). A reader that goes away (`| head`) ends the output quietly and
 * nothing else: an apply goes on. Any other failure (a full disk) is kept for the end and turns the exit status.
 */
export class Output {
  readonly #stream: Writable
  #broken = false
  #failure: VolctlError | undefined

  constructor(stream: Writable) {
    this.#stream = stream
    stream.on('error', (error) => this.#fail(error))
  }

  write(text: string): void {
    if (this.#broken || text === '') return
    this.#stream.write(text)
  }

  /** Waits until everything is out; throws if the output could not be written. */
  async flush(): Promise<void> {
    if (!this.#broken) {
      await new Promise<void>((resolve) => {
        this.#stream.once('error', () => resolve())
        this.#stream.write('', () => resolve())
      })
    }
    if (this.#failure !== undefined) throw this.#failure
  }

  #fail(error: unknown): void {
    this.#broken = true
    if (errnoOf(error) === 'EPIPE') return
    this.#failure ??= new VolctlError('OutputFailed', `cannot write the output: ${errorMessage(error)}`, { cause: error })
  }
}
