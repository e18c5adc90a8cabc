/**
 * A long file of /proc, read by a thread: to write the table of 100,000 mounts takes the kernel 200 ms and more, in which this
 * thread has other work.
 */
import { closeSync, openSync } from 'node:fs'
import { fill } from './kernel.ts'
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
  try {
    const lines = new WholeLines(ROOM)
    await using thread = given ?? new ReadingThread()
    // Until the thread has started, this one reads on.
    for (let bytes = 0; bytes < SHORT || !thread.hasStarted(); ) {
      if (bytes >= SHORT) thread.start()
      const room = lines.room()
      const length = fill(fd, room, 0)
      if (length < room.length) {
        yield* some(lines.last(length))
        return
      }
      bytes += length
      yield* some(lines.cut(length))
    }
    for await (const piece of thread.read(fd)) {
      for (let from = 0; from < piece.length; ) {
        const length = piece.copy(lines.room(), 0, from)
        from += length
        yield* some(lines.cut(length))
      }
    }
    yield* some(lines.last(0))
  } finally {
    closeSync(fd)
  }
}

function some(piece: Buffer): readonly Buffer[] {
  return piece.length === 0 ? [] : [piece]
}
