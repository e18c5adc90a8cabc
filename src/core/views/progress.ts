import { formatDuration } from '../lang/duration.ts'
import type { ApplyEvent } from '../plan/events.ts'
import type { PlanNames } from '../plan/plan-names.ts'
import { isEnd, numbered } from './apply-lines.ts'
import { cutToWidth } from './text-width.ts'

const REDRAW_MS = 200
const CLEAR_BELOW = '\u001b[0J'

interface Running {
  readonly event: ApplyEvent
  readonly since: number
  step: string
}

/** What a terminal must be able to do; `process.stderr` is one. */
export interface Terminal {
  write(text: string): unknown
  readonly columns?: number | undefined
  readonly rows?: number | undefined
}

/**
 * One line per running operation with its elapsed time, redrawn at the bottom of the terminal. Whatever else is to be
 * printed goes through `above`, so that it scrolls away over the lines.
 */
export class Progress implements Disposable {
  readonly #screen: Terminal
  readonly #names: PlanNames
  readonly #now: () => number
  readonly #running = new Map<string, Running>()
  readonly #timer: NodeJS.Timeout
  #total: number
  #ended = 0
  #drawn = 0

  constructor(screen: Terminal, names: PlanNames, total: number, now: () => number = () => performance.now()) {
    this.#screen = screen
    this.#names = names
    this.#total = total
    this.#now = now
    this.#timer = setInterval(() => this.#draw(), REDRAW_MS)
    this.#timer.unref()
  }

  follow(event: ApplyEvent): void {
    const { id } = event
    if (id === undefined) return
    if (event.type === 'start') this.#running.set(id, { event, since: this.#now(), step: '' })
    const running = this.#running.get(id)
    if (event.type === 'step' && running !== undefined) running.step = event.step?.op ?? ''
    if (isEnd(event)) {
      this.#running.delete(id)
      this.#ended++
    }
  }

  /** Prints something over the lines. */
  above(print: () => void): void {
    this.#erase()
    print()
    this.#draw()
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    this.#erase()
  }

  #draw(): void {
    this.#erase()
    const lines = this.#lines()
    this.#screen.write(lines.map((line) => `${line}\n`).join(''))
    this.#drawn = lines.length
  }

  #erase(): void {
    if (this.#drawn > 0) this.#screen.write(`\u001b[${this.#drawn}A\r${CLEAR_BELOW}`)
    this.#drawn = 0
  }

  #lines(): string[] {
    if (this.#running.size === 0) return []
    const width = (this.#screen.columns ?? 80) - 1
    const most = Math.max((this.#screen.rows ?? 24) - 3, 1)
    // Thousands may be running (a batch): only what fits is made.
    const shown = this.#running
      .values()
      .take(most)
      .map(({ event, since, step }) =>
        cutToWidth(
          `  ${formatDuration(this.#now() - since).padStart(6)}  ${numbered(event, this.#names)}  ${step}`,
          width,
        ).trimEnd(),
      )
    const hidden = this.#running.size - most
    const more = hidden > 0 ? `, ${hidden} more running` : ''
    return [...shown, `  ${this.#ended} of ${this.#total} operations ended${more}`]
  }
}
