import { formatDuration } from '../base/text.ts'
import type { ApplyEvent } from '../plan/events.ts'
import { isEnd } from './apply-lines.ts'
import { Redrawn, type Terminal } from './redrawn.ts'

const REDRAW_MS = 200

/**
 * One line at the bottom of the terminal: how many operations have ended, and which has been running for longest. Whatever else is to be
 * printed goes through `above`, so that it scrolls away over the line.
 */
export class Progress implements Disposable {
  readonly #line: Redrawn
  readonly #nameOf: (event: ApplyEvent) => string
  /** In the order in which they began. */
  readonly #running = new Map<string, { readonly event: ApplyEvent; readonly since: number }>()
  readonly #timer: NodeJS.Timeout
  readonly #total: number
  #ended = 0

  constructor(terminal: Terminal, nameOf: (event: ApplyEvent) => string, total: number) {
    this.#line = new Redrawn(terminal, '')
    this.#nameOf = nameOf
    this.#total = total
    this.#timer = setInterval(() => this.#draw(), REDRAW_MS)
    this.#timer.unref()
  }

  follow(event: ApplyEvent): void {
    const { id } = event
    if (id === undefined) return
    if (event.type === 'start') this.#running.set(id, { event, since: performance.now() })
    if (!isEnd(event)) return
    this.#running.delete(id)
    this.#ended++
  }

  /** Prints something over the line. */
  above(print: () => void): void {
    this.#line.leave(print)
    this.#draw()
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    this.#line[Symbol.dispose]()
  }

  #draw(): void {
    const [longest] = this.#running.values()
    const ended = `${this.#ended} of ${this.#total} operations ended`
    if (longest === undefined) this.#line.draw(ended)
    else {
      const time = formatDuration(performance.now() - longest.since)
      this.#line.draw(`${ended}, ${this.#running.size} running; for ${time}: ${this.#nameOf(longest.event)}`)
    }
  }
}
