import { TextDecoder } from 'node:util'
import { terminalSafeLines } from '../views/terminal-safe.ts'

/**
 * What a command on a node prints, on its way to a stream of this process. A terminal gets whole lines with nothing but their
 * colours, since a node is not trusted with it; a pipe or a file gets everything as it is.
 */
export class FromNode {
  readonly #decoder = new TextDecoder()
  readonly #write: (text: string) => void
  readonly #isTerminal: boolean
  #line = ''

  constructor(write: (text: string) => void, isTerminal: boolean) {
    this.#write = write
    this.#isTerminal = isTerminal
  }

  take(bytes: Uint8Array): void {
    this.#send(this.#decoder.decode(bytes, { stream: true }))
  }

  /** The last line may lack its end. */
  end(): void {
    this.#send(this.#decoder.decode())
    if (this.#line !== '') this.#write(terminalSafeLines(this.#line))
    this.#line = ''
  }

  #send(text: string): void {
    if (!this.#isTerminal) {
      if (text !== '') this.#write(text)
      return
    }
    const whole = this.#line + text
    const end = whole.lastIndexOf('\n') + 1
    this.#line = whole.slice(end)
    if (end > 0) this.#write(terminalSafeLines(whole.slice(0, end)))
  }
}
