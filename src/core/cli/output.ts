import type { Writable } from 'node:stream'
import { errnoOf, errorMessage, VolctlError } from '../errors/errors.ts'
import { written } from './written.ts'

/** A pipe without a reader, a terminal that hung up, and what follows on either. */
const READER_GONE = new Set(['EPIPE', 'EIO', 'ERR_STREAM_DESTROYED'])

/** For what is written already, once a person wants to leave. */
const READER_MS = 500

/**
 * Standard output carries the answer alone (contract). A reader that goes away (`| head`, a dropped session) ends the output quietly and
 * nothing else: an apply goes on. Any other failure (a full disk) is kept for the end and turns the exit status.
 */
export class Output {
  readonly #stream: Writable
  /** Not to a terminal, where lines and the progress below them take turns. */
  readonly #gathers: boolean
  #pending = ''
  #broken = false
  #failure: VolctlError | undefined
  readonly #hurried = Promise.withResolvers<void>()

  constructor(stream: Writable & { readonly isTTY?: boolean }) {
    this.#stream = stream
    this.#gathers = stream.isTTY !== true
    stream.on('error', (error) => this.#fail(error))
  }

  /** What is written without a pause in between goes out at once: a batch ends thousands of operations together. */
  write(text: string): void {
    if (this.#pending === '' && this.#gathers) queueMicrotask(() => this.#send())
    this.#pending += text
    if (!this.#gathers) this.#send()
  }

  #send(): void {
    const text = this.#pending
    this.#pending = ''
    if (this.#broken || text === '') return
    try {
      this.#stream.write(text)
    } catch (error) {
      // Of a file, writing is synchronous, and fails so.
      this.#fail(error)
    }
  }

  /** Waits until everything is out; throws, once, if the output could not be written. */
  async flush(): Promise<void> {
    this.#send()
    if (!this.#broken) {
      await Promise.race([written(this.#stream), this.#hurried.promise])
    }
    const failure = this.#failure
    this.#failure = undefined
    if (failure !== undefined) throw failure
  }

  /** Somebody wants to leave at once: a reader that does not read is waited for no longer. */
  hurry(): void {
    setTimeout(this.#hurried.resolve, READER_MS)
  }

  #fail(error: unknown): void {
    this.#broken = true
    if (READER_GONE.has(errnoOf(error) ?? '')) return
    this.#failure ??= new VolctlError('NotWritten', `cannot write the output: ${errorMessage(error)}`, {
      cause: error,
    })
  }
}

let shared: Output | undefined

/** The process's standard output; the first call must come after oclif is loaded (main.ts). */
export function standardOutput(): Output {
  shared ??= new Output(process.stdout)
  return shared
}
