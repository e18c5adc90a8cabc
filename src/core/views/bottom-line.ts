import { sizeOf, type Terminal } from './redrawn.ts'
import { cutToWidth } from './text-width.ts'

const ERASE_LINE = '\r\u001b[K'

/** One line at the bottom of the terminal, drawn again and again in its own place; erased at the end. */
export class BottomLine implements Disposable {
  readonly #terminal: Terminal | undefined
  #drawn = false

  /** @param terminal undefined: standard error is no terminal, and nobody watches */
  constructor(terminal: Terminal | undefined) {
    this.#terminal = terminal
  }

  draw(text: string): void {
    if (this.#terminal === undefined) return
    this.#terminal.write(`${ERASE_LINE}${cutToWidth(text, sizeOf(this.#terminal).columns - 1)}`)
    this.#drawn = true
  }

  /** Prints something in the place of the line. */
  instead(print: () => void): void {
    this[Symbol.dispose]()
    print()
  }

  [Symbol.dispose](): void {
    if (this.#drawn) this.#terminal?.write(ERASE_LINE)
    this.#drawn = false
  }
}
