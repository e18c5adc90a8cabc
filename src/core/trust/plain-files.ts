/**
 * The gate for files that are only read or written, and decide nothing: state files of the kubelet, content of volumes,
 * volctl's output. A pod or a driver may write where they are. So no link is followed, a FIFO does not block, and reading is
 * bounded (S12, S34).
 */
import { constants, fstatSync, fsyncSync, openSync, readSync, type Stats, writeSync } from 'node:fs'
import { closing, closingOnError } from '../messages/findings.ts'
import { O_PATH } from './kernel.ts'

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY } = constants

/** The file or stream is larger than allowed. */
export class TooLarge extends Error {
  readonly code = 'TOO_LARGE'
  /** Continues a sentence that begins with the name of the file or stream; the message says "it" for that. */
  readonly why: string

  constructor(why: string, options?: ErrorOptions) {
    super(`it ${why}`, options)
    this.why = why
  }
}

/** The path is not a plain file: a directory, a device, a FIFO, a socket. */
export class NotPlain extends Error {
  readonly code = 'NOT_PLAIN'
}

type Path = string | Buffer

/** Opens a regular file for reading. @throws ELOOP for a link in its place, NotPlain for anything else that is not a regular file */
export function openPlain(path: Path): { readonly fd: number; readonly stats: Stats } {
  return closingOnError(openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK), (fd) => {
    const stats = fstatSync(fd)
    if (!stats.isFile()) throw new NotPlain(`${path.toString()} is not a plain file`)
    return { fd, stats }
  })
}

/**
 * Opens data that the user names, which decides nothing: any user's file, with links followed. Its type is checked before it
 * is opened, since opening a device has effects.
 *
 * @param accept throws to refuse
 */
export function openData(path: Path, accept: (stats: Stats) => void): number {
  return closing(openSync(path, O_PATH), (place) => {
    accept(fstatSync(place))
    return openSync(`/proc/self/fd/${place}`, O_RDONLY | O_NONBLOCK)
  })
}

/** The file's content. @throws TooLarge, or what the file system says */
export function readPlain(path: Path, maxBytes: number): Buffer {
  return closing(openPlain(path).fd, (fd) => readToLimit(fd, maxBytes))
}

/** A directory for listing; a link in its place is an error. */
export function openListing(path: Path): number {
  return openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
}

/** A descriptor of a directory that opens nothing (O_PATH), so that a FUSE server is not asked. A link is an error. */
export function markDirectory(path: Path): number {
  return openSync(path, O_PATH | O_DIRECTORY | O_NOFOLLOW)
}

/** A descriptor of anything, even of a link itself, that opens nothing (O_PATH). */
export function markEntry(path: Path): number {
  return openSync(path, O_PATH | O_NOFOLLOW)
}

/** Opens a directory of volctl's own, by a link in /proc or by name, links followed: for fsync, or to reach a socket in it. */
export function openOwnDirectory(path: Path): number {
  return openSync(path, O_RDONLY | O_DIRECTORY)
}

/** Opens a device exclusively (O_EXCL), to learn whether the device is in use; nothing is read from it. */
export function openDeviceAlone(path: string): number {
  return openSync(path, O_RDONLY | O_EXCL | O_NONBLOCK)
}

/** Creates a file, which must not exist yet, for writing. */
export function createNew(path: Path, mode: number): number {
  return openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
}

/** Reads to the end. @throws TooLarge if there is more than the limit */
export function readToLimit(fd: number, maxBytes: number): Buffer {
  const expected = fstatSync(fd).size
  if (expected > maxBytes) throw new TooLarge(`is larger than ${maxBytes} bytes`)
  let buffer = Buffer.allocUnsafeSlow(Math.min(expected, maxBytes) + 1)
  let length = 0
  for (;;) {
    const read = readSync(fd, buffer, length, buffer.length - length, null)
    if (read === 0) return buffer.subarray(0, length)
    length += read
    if (length > maxBytes) throw new TooLarge(`is larger than ${maxBytes} bytes`)
    if (length === buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(Math.max(length * 2, 4096), maxBytes + 1))
      buffer.copy(larger)
      buffer = larger
    }
  }
}

/** Writes all bytes: one write(2) to a pipe or a nearly full disk may write only a part. */
export function writeAll(fd: number, content: string | Uint8Array): void {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done)
}

/** The same, and waits until the bytes are on the disk. */
export function writeThrough(fd: number, content: string | Uint8Array): void {
  writeAll(fd, content)
  fsyncSync(fd)
}
