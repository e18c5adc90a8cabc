/**
 * JSON documents that follow one another in a stream: one a line, or simply concatenated. Only one of them is in memory at a time.
 *
 * One that is cut off ends where the next begins: in JSON no text holds a newline, and no object but a new one begins in the first
 * column of a line, as volctl and kubectl write them.
 */

export type Piece =
  | { readonly document: Buffer }
  /** `tooLarge`: it was left out. `cutOff`: the next one begins in its middle, or the stream ends. `notJson`: no object. */
  | { readonly defect: 'tooLarge' | 'cutOff' | 'notJson' }

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN = 0x7b
const CLOSE = 0x7d
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const NEWLINE = 0x0a
const OPENING = Buffer.from('{')

/** Fed with bytes as they come; yields each document once its last byte is there. */
export class DocumentSplitter {
  readonly #maxBytes: number
  #parts: Buffer[] = []
  #held = 0
  #depth = 0
  #inText = false
  #isEscaped = false
  #afterNewline = true
  #isTooLarge = false
  /** Outside of documents, something other than white space was met, and said. */
  #inGarbage = false

  /** @param maxBytes of one document */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** No document has begun that has not ended. */
  get isBetween(): boolean {
    return this.#depth === 0
  }

  *add(chunk: Buffer): Generator<Piece> {
    for (let at = 0; at < chunk.length; ) {
      if (this.#depth === 0) {
        const garbage = this.#between(chunk[at] as number)
        if (garbage !== undefined) yield garbage
        at++
        if (this.#depth > 0) this.#keep(OPENING)
        continue
      }
      const to = this.#scan(chunk, at)
      this.#keep(chunk.subarray(at, to))
      at = to
      if (this.#depth === 0) yield this.#finish()
      else if (to < chunk.length) yield this.#cutOffAt(chunk[to] as number)
    }
  }

  /** The end of the stream. */
  *end(): Generator<Piece> {
    if (this.#depth > 0) yield this.#drop('cutOff')
  }

  /** After something that is no document the next one begins with a line of its own: what was met may be the rest of one. */
  #between(byte: number): Piece | undefined {
    const isNewLine = this.#afterNewline
    this.#afterNewline = byte === NEWLINE
    if (byte === OPEN && (isNewLine || !this.#inGarbage)) {
      this.#depth = 1
      this.#inGarbage = false
      return undefined
    }
    if (byte <= 0x20 || this.#inGarbage) return undefined
    this.#inGarbage = true
    return { defect: 'notJson' }
  }

  /** @returns where the document ends: the depth is zero then; where it is cut off; or the end of the chunk */
  #scan(chunk: Buffer, from: number): number {
    const { length } = chunk
    let [depth, inText, isEscaped, afterNewline] = [this.#depth, this.#inText, this.#isEscaped, this.#afterNewline]
    let at = from
    for (; at < length && depth > 0; at++) {
      const byte = chunk[at]
      if (inText) {
        if (byte === NEWLINE) break
        if (isEscaped) isEscaped = false
        else if (byte === BACKSLASH) isEscaped = true
        else if (byte === QUOTE) inText = false
        continue
      }
      if (byte === QUOTE) inText = true
      else if (byte === OPEN || byte === OPEN_LIST) {
        if (afterNewline && byte === OPEN) break
        depth++
      } else if (byte === CLOSE || byte === CLOSE_LIST) depth--
      afterNewline = byte === NEWLINE
    }
    ;[this.#depth, this.#inText, this.#isEscaped, this.#afterNewline] = [depth, inText, isEscaped, afterNewline]
    return at
  }

  /** The byte is not taken: it may begin the next document. */
  #cutOffAt(byte: number): Piece {
    const piece = this.#drop('cutOff')
    this.#inGarbage = byte !== OPEN
    return piece
  }

  #keep(part: Buffer): void {
    this.#held += part.length
    if (this.#held > this.#maxBytes) {
      this.#isTooLarge = true
      this.#parts = []
    }
    // The chunk is used again for the bytes that follow.
    if (!this.#isTooLarge) this.#parts.push(Buffer.from(part))
  }

  #finish(): Piece {
    if (this.#isTooLarge) return this.#drop('tooLarge')
    const document = this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts)
    this.#reset()
    return { document }
  }

  #drop(defect: 'tooLarge' | 'cutOff'): Piece {
    this.#reset()
    return { defect }
  }

  #reset(): void {
    this.#parts = []
    this.#held = 0
    this.#depth = 0
    this.#inText = false
    this.#isEscaped = false
    this.#afterNewline = false
    this.#isTooLarge = false
  }
}
