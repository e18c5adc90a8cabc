import { formatDuration } from '../base/duration.ts'
import type { ApplyEvent } from '../plan/events.ts'
import { isEnd } from './apply-lines.ts'
import { Redrawn, sizeOf, type Terminal } from './redrawn.ts'

const REDRAW_MS = 200

interface Running {
  readonly event: ApplyEvent
  readonly since: number
  step: string
}

/**
 * One line per running operation with its elapsed time, redrawn at the bottom of the terminal. Whatever else is to be
 * printed goes through `above`, so that it scrolls away over the lines.
 */
export class Progress implements Disposable {
  readonly #terminal: Terminal
  readonly #screen: Redrawn
  readonly #nameOf: (event: ApplyEvent) => string
  readonly #running = new Map<string, Running>()
  readonly #timer: NodeJS.Timeout
  #total: number
  #ended = 0

  constructor(terminal: Terminal, nameOf: (event: ApplyEvent) => string, total: number) {
    this.#terminal = terminal
    this.#screen = new Redrawn(terminal)
    this.#nameOf = nameOf
    this.#total = total
    this.#timer = setInterval(() => this.#draw(), REDRAW_MS)
    this.#timer.unref()
  }

  follow(event: ApplyEvent): void {
    const { id } = event
    if (id === undefined) return
    if (event.type === 'start') this.#running.set(id, { event, since: performance.now(), step: '' })
    const running = this.#running.get(id)
    if (event.type === 'step' && running !== undefined) running.step = event.step?.op ?? ''
    if (isEnd(event)) {
      this.#running.delete(id)
      this.#ended++
    }
  }

  /** Prints something over the lines. */
  above(print: () => void): void {
    this.#screen.leave(print)
    this.#draw()
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    this.#screen[Symbol.dispose]()
  }

  #draw(): void {
    if (this.#running.size === 0) this.#screen[Symbol.dispose]()
    else this.#screen.draw(this.#lines().join('\n'))
  }

  #lines(): string[] {
    const most = Math.max(sizeOf(this.#terminal).rows - 3, 1)
    // Thousands may be running (a batch): only what fits is made.
    const shown = this.#running
      .values()
      .take(most)
      .map(({ event, since, step }) => {
        const time = formatDuration(performance.now() - since).padStart(6)
        return `  ${time}  ${this.#nameOf(event)}  ${step}`.trimEnd()
      })
    const hidden = this.#running.size - most
    const more = hidden > 0 ? `, ${hidden} more running` : ''
    return [...shown, `  ${this.#ended} of ${this.#total} operations ended${more}`]
  }
}
