/** Bytes of a piece of a long file. */
export const PIECE = 256 * 1024
const NEWLINE = 0x0a

/** Cuts the bytes of a file, as they come, into pieces of whole lines. It needs one buffer, unless a line is longer than that. */
export class WholeLines {
  #buffer: Buffer
  /** Where the next line begins, and how far the buffer is filled. */
  #from = 0
  #filled = 0

  constructor(size: number) {
    this.#buffer = Buffer.allocUnsafeSlow(size)
  }

  /** Where the next bytes are to be put; never empty. What was returned before is overwritten. */
  room(): Buffer {
    const rest = this.#filled - this.#from
    const buffer = rest < this.#buffer.length ? this.#buffer : Buffer.allocUnsafeSlow(rest * 2)
    this.#buffer.copy(buffer, 0, this.#from, this.#filled)
    this.#buffer = buffer
    this.#from = 0
    this.#filled = rest
    return buffer.subarray(rest)
  }

  /** @param length of the bytes that were put into the room. @returns the whole lines; may be empty */
  cut(length: number): Buffer {
    const filled = this.#filled + length
    // Not before the new bytes: there is no end of a line there.
    const newline = this.#buffer.subarray(this.#filled, filled).lastIndexOf(NEWLINE)
    this.#from = newline === -1 ? 0 : this.#filled + newline + 1
    this.#filled = filled
    return this.#buffer.subarray(0, this.#from)
  }

  /** @param length as above, of the last bytes. @returns all that was not returned yet */
  last(length: number): Buffer {
    return this.#buffer.subarray(this.#from, this.#filled + length)
  }
}
