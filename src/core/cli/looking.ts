import { formatDuration } from '../lang/duration.ts'
import { BottomLine } from '../views/bottom-line.ts'
import type { Terminal } from '../views/progress.ts'

/** A look that takes no longer says nothing. */
const QUIET_MS = 1000
const REDRAW_MS = 500

/** One line at the bottom of the terminal while node or cluster are read, with the time that it takes; erased at the end. */
export class Looking implements Disposable {
  readonly #line: BottomLine
  readonly #timer: NodeJS.Timeout | undefined
  readonly #began: number
  readonly #now: () => number
  #what = 'the API server and this node'

  /** @param terminal undefined: standard error is none, and nobody watches */
  constructor(terminal: Terminal | undefined, now: () => number = () => performance.now()) {
    this.#line = new BottomLine(terminal)
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
    this.#line.instead(print)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    this.#line[Symbol.dispose]()
  }

  #draw(): void {
    const since = this.#now() - this.#began
    if (since >= QUIET_MS) this.#line.draw(`Reading ${this.#what}: ${formatDuration(since)}`)
  }
}
