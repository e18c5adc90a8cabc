/** The lines of a text file that may be large, one after the other: only one of them is held at a time. */
import { readSync } from 'node:fs'

const CHUNK_BYTES = 1024 * 1024

/** A line with its newline; without one, the line is the last and was cut off. Undefined: the line is too long. */
export type Line = string | undefined

/** @param fd of a plain file, read from its beginning */
export function* readLines(fd: number, maxLineBytes: number): Generator<Line> {
  const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  let held: Buffer[] = []
  let heldBytes = 0
  const take = (piece: Buffer): void => {
    heldBytes += piece.length
    // For a line that is too long, only its length is kept.
    if (heldBytes <= maxLineBytes) held.push(Buffer.from(piece))
    else held = []
  }
  const finished = (): Line => {
    const line = heldBytes > maxLineBytes ? undefined : Buffer.concat(held, heldBytes).toString('utf8')
    held = []
    heldBytes = 0
    return line
  }
  for (let position = 0; ; ) {
    const length = readSync(fd, chunk, 0, chunk.length, position)
    if (length === 0) break
    position += length
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1 && end < length; end = chunk.indexOf(NEWLINE, start)) {
      take(chunk.subarray(start, end + 1))
      yield finished()
      start = end + 1
    }
    if (start < length) take(chunk.subarray(start, length))
  }
  if (heldBytes > 0) yield finished()
}

const NEWLINE = 0x0a
