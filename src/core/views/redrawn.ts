import { cutToWidth } from './screen.ts'

/** What a terminal must be able to do; `process.stderr` is one. */
export interface Terminal {
  write(text: string): unknown
  readonly columns?: number
  readonly rows?: number
}

const CLEAR_BELOW = '\u001b[0J'

/** A text on a terminal that the next one takes the place of: as much of it as the terminal has rows for. */
export class Redrawn implements Disposable {
  readonly #terminal: Terminal | undefined
  readonly #end: '\n' | ''
  #drawn = 0

  /** @param terminal undefined: nothing is drawn @param end '': of one line, so that what others print meanwhile stays */
  constructor(terminal: Terminal | undefined, end: '\n' | '' = '\n') {
    this.#terminal = terminal
    this.#end = end
  }

  /** @param text whole lines without control characters but colours */
  draw(text: string): void {
    if (this.#terminal === undefined) return
    const lines = fitting(text, this.#terminal)
    this.#terminal.write(`${this.#up()}${lines.join('\n')}${this.#end}`)
    this.#drawn = lines.length
  }

  /** Prints something in its place, which stays. */
  leave(print: () => void): void {
    this[Symbol.dispose]()
    print()
  }

  [Symbol.dispose](): void {
    if (this.#drawn > 0) this.#terminal?.write(this.#up())
    this.#drawn = 0
  }

  #up(): string {
    if (this.#drawn === 0) return ''
    return `${this.#end === '' ? '' : `\u001b[${this.#drawn}A`}\r${CLEAR_BELOW}`
  }
}

/** A line that is too long would take two rows, and one too many would scroll away. */
function fitting(text: string, terminal: Terminal): string[] {
  // One that does not know its size, as a serial console, says 0.
  const [columns, rows] = [terminal.columns || 80, terminal.rows || 24]
  const lines = text.replace(/\n$/, '').split('\n')
  const most = Math.max(rows - 2, 1)
  const shown = lines.length > most ? [...lines.slice(0, most - 1), `… ${lines.length - most + 1} more lines`] : lines
  return shown.map((line) => (line.includes('\u001b') ? line : cutToWidth(line, columns - 1)))
}
