/**
 * The last lines of a log that comes in pieces. However long it is, no more than its end is held, and of a single line no more
 * than its beginning.
 */
import { MAX_LINE_CHARS } from './log-line.ts'

export interface LogTail {
  /** Without their ends; klog's values of several lines are one line. */
  readonly lines: readonly string[]
  /** How many there were in all, those before the last ones included. */
  readonly total: number
}

/** Of all lines that are kept: a log of long lines keeps fewer. */
const MOST_CHARS = 16 * 1024 * 1024
/** Of a line: one more than is read of it, so that it is known to be cut. */
const MOST_BYTES = MAX_LINE_CHARS + 1

export class LogTailReader {
  readonly #most: number
  #lines: string[] = []
  #chars = 0
  #dropped = 0
  #partial: Buffer[] = []
  #partialBytes = 0

  /** @param most lines that are kept */
  constructor(most: number) {
    this.#most = most
  }

  /** @param piece may be reused afterwards */
  add(piece: Buffer): void {
    let start = 0
    for (let end = piece.indexOf(NEWLINE); end !== -1; end = piece.indexOf(NEWLINE, start)) {
      // Most lines are whole in one piece, and are not copied before they are read.
      if (this.#partialBytes === 0) this.#keep(piece.toString('utf8', start, Math.min(end, start + MOST_BYTES)))
      else {
        this.#append(piece.subarray(start, end))
        this.#finish()
      }
      start = end + 1
    }
    this.#append(piece.subarray(start))
  }

  end(): LogTail {
    if (this.#partialBytes > 0) this.#finish()
    this.#drop()
    return { lines: joined(this.#lines), total: this.#dropped + this.#lines.length }
  }

  #append(bytes: Buffer): void {
    const own = bytes.subarray(0, Math.max(0, MOST_BYTES - this.#partialBytes))
    if (own.length > 0) this.#partial.push(Buffer.from(own))
    this.#partialBytes += own.length
  }

  #finish(): void {
    const line = Buffer.concat(this.#partial).toString('utf8')
    this.#partial = []
    this.#partialBytes = 0
    this.#keep(line)
  }

  #keep(line: string): void {
    this.#lines.push(line.endsWith('\r') ? line.slice(0, -1) : line)
    this.#chars += line.length
    // Twice as many before half of them go: each is moved once.
    if (this.#lines.length >= this.#most * 2 || this.#chars >= MOST_CHARS * 2) this.#drop()
  }

  #drop(): void {
    let from = this.#lines.length
    let chars = 0
    while (from > 0 && this.#lines.length - from < this.#most && chars < MOST_CHARS) {
      from--
      chars += this.#lines[from]?.length ?? 0
    }
    this.#dropped += from
    this.#lines = this.#lines.slice(from)
    this.#chars = chars
  }
}

const NEWLINE = 0x0a
const MOST_CONTINUATIONS = 100

/** klog writes a value with newlines as `key=<`, lines after a tab, and ` >`; journald indents what belongs to one entry. */
function joined(lines: readonly string[]): string[] {
  const found: string[] = []
  let open = 0
  for (const line of lines) {
    const last = found.length - 1
    if (open > 0 && last >= 0) {
      found[last] = `${found[last]}\n${line}`
      open = line.trim().startsWith('>') ? 0 : open - 1
    } else {
      found.push(line)
      open = line.endsWith('=<') ? MOST_CONTINUATIONS : 0
    }
  }
  return found
}
