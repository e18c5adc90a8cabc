import type { Writable } from 'node:stream'
import { errnoOf, errorMessage, said, VolctlError } from '../messages/findings.ts'
import { asTyped, type Environment, environment, io, type OutputStream, perRun } from '../trust/run.ts'
import type { Terminal } from '../views/redrawn.ts'
import { type Palette, palette } from '../views/screen.ts'

/** A pipe without a reader, a terminal that hung up, and what follows on either. */
const READER_GONE = new Set(['EPIPE', 'EIO', 'ERR_STREAM_DESTROYED'])

/** For what is written already, once a person wants to leave. */
const READER_MS = 500

/**
 * Standard output carries the answer alone (contract). A reader that goes away (`| head`, a dropped session) ends the output quietly and
 * nothing else: an apply goes on. Any other failure (a full disk) is kept for the end and turns the exit status.
 */
class Output implements Disposable {
  readonly #stream: Writable
  /** Not to a terminal, where lines and the progress below them take turns. */
  readonly #gathers: boolean
  #pending = ''
  #broken = false
  #failure: VolctlError | undefined
  readonly #hurried = Promise.withResolvers<void>()
  #timer: NodeJS.Timeout | undefined

  constructor(stream: OutputStream) {
    this.#stream = stream
    this.#gathers = stream.isTTY !== true
    stream.on('error', this.#fail)
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
    this.#timer ??= setTimeout(this.#hurried.resolve, READER_MS)
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
    this.#stream.off('error', this.#fail)
  }

  readonly #fail = (error: unknown): void => {
    this.#broken = true
    if (READER_GONE.has(errnoOf(error) ?? '')) return
    this.#failure ??= new VolctlError(said('NotWritten.output', { error: errorMessage(error) }), { cause: error })
  }
}

/** Standard output of this run. */
export const standardOutput = perRun(() => new Output(io().stdout))

/**
 * What goes to standard error besides the answer. A terminal that has gone, or a full disk behind it, loses the message
 * and nothing else: of a file, writing is synchronous, and would throw in the middle of an apply.
 */
export const messages = {
  write(text: string): boolean {
    try {
      return io().stderr.write(asTyped(text))
    } catch {
      return false
    }
  },
  /** Waits until everything is out. */
  async flush(): Promise<void> {
    const { stderr } = io()
    if (stderr.writableLength > 0) await written(stderr)
  },
  /** Of a terminal; undefined: a pipe or a file, or a terminal that does not say. */
  get columns(): number | undefined {
    return io().stderr.columns || undefined
  },
  get rows(): number | undefined {
    return io().stderr.rows
  },
}

/** Standard error, where somebody watches it. */
export function watchedTerminal(): Terminal | undefined {
  return io().stderr.isTTY === true ? messages : undefined
}

/** Ends when all that was written to a stream is out, or will never be: what a slow reader has not taken goes with the process. */
function written(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      stream.off('error', end)
      resolve()
    }
    stream.once('error', end)
    stream.write('', end)
  })
}

/** The colours of one stream. @param argv the command line, as a usage error leaves nothing parsed */
export async function paintOf(argv: readonly string[], { isTTY }: OutputStream): Promise<Palette> {
  return await palette(isColourful(argv, environment(), isTTY === true))
}

/**
 * Whether one stream gets colour. The command line comes before the environment, and of that NO_COLOR before FORCE_COLOR
 * (no-color.org, and what Node.js itself reads).
 */
export function isColourful(
  argv: readonly string[],
  { NO_COLOR, FORCE_COLOR, TERM }: Environment,
  isTerminal: boolean,
): boolean {
  if (argv.includes('--no-color') || NO_COLOR) return false
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  return isTerminal && TERM !== 'dumb'
}
