/**
 * JSON documents that follow one another in a stream, as volctl and kubectl write them: each begins with an opening brace in the first
 * column of a line, and ends with that line, or with a closing brace in the first column. Only one is in memory at a time. What is cut
 * off, or is no document, is a piece as well: whoever parses it says so.
 */

export type Piece = Buffer | 'tooLarge'

const OPEN = 0x7b
const CLOSE = 0x7d
const NEWLINE = 0x0a

/** Fed with bytes as they come; yields each document once its last line is there. */
export class DocumentSplitter {
  readonly #maxBytes: number
  #parts: Buffer[] = []
  #held = 0
  /** Of the line that has begun: its first byte, absent between lines, and its last one so far. */
  #first: number | undefined
  #last: number | undefined

  /** @param maxBytes of one document */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** No document has begun that has not ended. */
  get isBetween(): boolean {
    return this.#held === 0
  }

  *add(chunk: Buffer): Generator<Piece> {
    for (let at = 0; at < chunk.length; ) {
      const newline = chunk.indexOf(NEWLINE, at)
      const part = chunk.subarray(at, newline < 0 ? chunk.length : newline + 1)
      at += part.length
      if (this.#first === undefined && part[0] === OPEN) yield* this.end()
      this.#first ??= part[0]
      this.#last = (newline < 0 ? part.at(-1) : part.at(-2)) ?? this.#last
      this.#keep(part)
      if (newline < 0) return
      const isWhole = this.#first === CLOSE || (this.#first === OPEN && this.#last === CLOSE)
      this.#first = undefined
      if (isWhole) yield* this.end()
    }
  }

  /** The end of a document, or of the stream. */
  *end(): Generator<Piece> {
    const isTooLarge = this.#held > this.#maxBytes
    const document = Buffer.concat(this.#parts)
    this.#parts = []
    this.#held = 0
    if (isTooLarge) yield 'tooLarge'
    else if (document.length > 0) yield document
  }

  #keep(part: Buffer): void {
    // White space between documents.
    if (this.#held === 0 && part.every((byte) => byte <= 0x20)) return
    this.#held += part.length
    if (this.#held > this.#maxBytes) this.#parts = []
    // The chunk is used again for the bytes that follow.
    else this.#parts.push(Buffer.from(part))
  }
}
