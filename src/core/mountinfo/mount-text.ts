import { isAscii } from 'node:buffer'
import { decodeOctal } from './decode-octal.ts'

/**
 * The text of a table. If all of it is ASCII, as almost always, it becomes one string, and fields are slices of that: a
 * hundred thousand separate strings would cost more than everything else that is done with them.
 */
export class MountText {
  readonly #bytes: Buffer
  readonly #ascii: string | undefined

  /** @param text the text of the bytes, if the caller has it */
  constructor(bytes: Buffer, text?: string) {
    this.#bytes = bytes
    this.#ascii = isAscii(bytes) ? (text ?? bytes.toString('latin1')) : undefined
  }

  /** A field, its escapes decoded. @param start, end offsets in bytes */
  slice(start: number, end: number): string {
    const text = this.#ascii?.slice(start, end)
    return text === undefined || text.includes('\\') ? decodeOctal(this.#bytes, start, end) : text
  }

  /** All of it, as the kernel gave it. */
  whole(): string {
    return this.#ascii ?? this.#bytes.toString('utf8')
  }
}
