import { formatDuration } from '../lang/duration.ts'
import type { Terminal } from '../views/progress.ts'
import { cutToWidth } from '../views/text-width.ts'

/** A look that takes no longer says nothing. */
const QUIET_MS = 1000
const REDRAW_MS = 500
const ERASE_LINE = '\r\u001b[K'

/** One line at the bottom of the terminal while node or cluster are read, with the time that it takes; erased at the end. */
export class Looking implements Disposable {
  readonly #terminal: Terminal | undefined
  readonly #timer: NodeJS.Timeout | undefined
  readonly #began: number
  readonly #now: () => number
  #drawn = false
  #what = 'the API server and this node'

  /** @param terminal undefined: standard error is none, and nobody watches */
  constructor(terminal: Terminal | undefined, now: () => number = () => performance.now()) {
    this.#terminal = terminal
    this.#now = now
    this.#began = now()
    if (terminal === undefined) return
    this.#timer = setInterval(() => this.#draw(), REDRAW_MS)
    this.#timer.unref()
  }

  /** From now on the line says this. @param what continues "Reading" */
  reads(what: string): void {
    this.#what = what
  }

  /** Prints something in the place of the line. */
  instead(print: () => void): void {
    this.#erase()
    print()
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    this.#erase()
  }

  #draw(): void {
    const since = this.#now() - this.#began
    if (this.#terminal === undefined || since < QUIET_MS) return
    const text = `Reading ${this.#what}: ${formatDuration(since)}`
    this.#terminal.write(`${ERASE_LINE}${cutToWidth(text, (this.#terminal.columns ?? 80) - 1)}`)
    this.#drawn = true
  }

  #erase(): void {
    if (this.#drawn) this.#terminal?.write(ERASE_LINE)
    this.#drawn = false
  }
}
