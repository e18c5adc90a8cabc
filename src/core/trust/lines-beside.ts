/**
 * A long file of /proc, read by a thread: to write the table of 100,000 mounts takes the kernel 200 ms and more, in which this
 * thread has other work.
 */
import { closeSync, openSync } from 'node:fs'
import { readLines } from './kernel.ts'
import { ReadingThread } from './reading-thread.ts'
import { PIECE, WholeLines } from './whole-lines.ts'

/** A file that ends before this is read without a thread. */
const SHORT = 2 * 1024 * 1024
/** More than a piece, which is put behind the beginning of a line. */
const ROOM = PIECE + 64 * 1024

/**
 * A file's bytes, in pieces of whole lines. Each is overwritten by the next.
 *
 * @param given for tests: a thread that has started
 * @throws what the file system says
 */
export async function* linesBeside(path: string, given?: ReadingThread): AsyncIterable<Buffer> {
  const fd = openSync(path, 'r')
  let thread = given
  try {
    const lines = new WholeLines(ROOM)
    // Until the thread has started, this one reads on.
    for (let bytes = 0; bytes < SHORT || thread?.hasStarted() !== true; ) {
      if (bytes >= SHORT) thread ??= new ReadingThread()
      const { whole, isLast } = readLines(fd, lines)
      if (whole.length > 0) yield whole
      if (isLast) return
      bytes += whole.length
    }
    for await (const piece of thread.read(fd)) {
      for (let from = 0; from < piece.length; ) {
        const length = piece.copy(lines.room(), 0, from)
        from += length
        const whole = lines.cut(length)
        if (whole.length > 0) yield whole
      }
    }
    const rest = lines.last(0)
    if (rest.length > 0) yield rest
  } finally {
    await thread?.[Symbol.asyncDispose]()
    closeSync(fd)
  }
}
