/**
 * The gate for files that are looked at or made, not obeyed: state files of the kubelet, content of volumes, what volctl
 * writes. They lie where a pod or a driver may write, so that none is opened by a name alone: no link is followed, a FIFO
 * does not wait, and a read has an end (S12, S34).
 */
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  type Stats,
  writeSync,
} from 'node:fs'
import { O_PATH } from './kernel.ts'

const { O_RDONLY, O_WRONLY, O_RDWR, O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY } = constants

/** More than was allowed. */
export class TooLarge extends Error {
  readonly code = 'TOO_LARGE'
}

/** Something else than a plain file: a directory, a device, a FIFO, a socket. */
export class NotPlain extends Error {
  readonly code = 'NOT_PLAIN'
}

type Path = string | Buffer

/** A regular file for reading; a link in its place is an error (ELOOP), and so is anything else that is none (NotPlain). */
export function openPlain(path: Path): { readonly fd: number; readonly stats: Stats } {
  const fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  return ifRegular(fd, path)
}

/**
 * Data that a person names, to be looked at and never obeyed: anybody's, links followed. What it is is judged before it is
 * opened, for to open a device is to act on it; and to open a FIFO does not wait for its writer.
 *
 * @param accept throws where it is not to be opened
 */
export function openData(path: Path, accept: (stats: Stats) => void): { readonly fd: number; readonly stats: Stats } {
  const place = openSync(path, O_PATH)
  try {
    const stats = fstatSync(place)
    accept(stats)
    return { fd: openSync(`/proc/self/fd/${place}`, O_RDONLY | O_NONBLOCK), stats }
  } finally {
    closeSync(place)
  }
}

/** Its content. @throws TooLarge, or what the file system says */
export function readPlain(path: Path, maxBytes: number): Buffer {
  const { fd } = openPlain(path)
  try {
    return readToLimit(fd, maxBytes)
  } finally {
    closeSync(fd)
  }
}

/** A directory for listing; a link in its place is an error. */
export function openListing(path: Path): number {
  return openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
}

/** A directory's place, that opens nothing (O_PATH): a FUSE server is not asked. A link is an error. */
export function markDirectory(path: Path): number {
  return openSync(path, O_PATH | O_DIRECTORY | O_NOFOLLOW)
}

/** The place of anything, a link itself included; opens nothing. */
export function markEntry(path: Path): number {
  return openSync(path, O_PATH | O_NOFOLLOW)
}

/** A directory of ours, by a link of /proc or by name, links followed: for fsync, or to listen below it. */
export function openOwnDirectory(path: Path): number {
  return openSync(path, O_RDONLY | O_DIRECTORY)
}

/** A device, to learn whether the kernel lets somebody have it alone (O_EXCL); nothing is read from it. */
export function openDeviceAlone(path: string): number {
  return openSync(path, O_RDONLY | O_EXCL | O_NONBLOCK)
}

/** A file that must not be there yet, for writing. */
export function createNew(path: Path, mode: number): number {
  return openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
}

/**
 * A file of our own to append to, made where there is none: a plain one, of this user, under one name, for its owner
 * alone. Whoever made another could read along, or have us write to his.
 */
export function openOwnAppending(path: Path): number {
  const flags = O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK
  let fd: number
  try {
    fd = openSync(path, flags)
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOENT') throw error
    fd = openSync(path, flags | O_CREAT | O_EXCL, 0o600)
  }
  try {
    const stats = fstatSync(fd)
    if (!stats.isFile()) throw new Error('it is not a regular file')
    if (stats.uid !== process.geteuid?.()) throw new Error(`it belongs to another user (uid ${stats.uid})`)
    if (stats.nlink !== 1) throw new Error('it has a second name (hard link)')
    if ((stats.mode & 0o077) !== 0) fchmodSync(fd, 0o600)
    return fd
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

/** All that can be read, and no more than that. @throws TooLarge */
export function readToLimit(fd: number, maxBytes: number): Buffer {
  const expected = fstatSync(fd).size
  if (expected > maxBytes) throw new TooLarge(`it is larger than ${maxBytes} bytes`)
  let buffer = Buffer.allocUnsafeSlow(Math.min(expected, maxBytes) + 1)
  let length = 0
  for (;;) {
    const read = readSync(fd, buffer, length, buffer.length - length, null)
    if (read === 0) return buffer.subarray(0, length)
    length += read
    if (length > maxBytes) throw new TooLarge(`it is larger than ${maxBytes} bytes`)
    if (length === buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(Math.max(length * 2, 4096), maxBytes + 1))
      buffer.copy(larger)
      buffer = larger
    }
  }
}

/** Writes all of it: a pipe or a full disk may take a part. */
export function writeAll(fd: number, content: string | Uint8Array): void {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done)
}

/** The same, and on the disk when it returns. */
export function writeThrough(fd: number, content: string | Uint8Array): void {
  writeAll(fd, content)
  fsyncSync(fd)
}

function ifRegular(fd: number, path: Path): { readonly fd: number; readonly stats: Stats } {
  try {
    const stats = fstatSync(fd)
    if (!stats.isFile()) throw new NotPlain(`${path.toString()} is not a plain file`)
    return { fd, stats }
  } catch (error) {
    closeSync(fd)
    throw error
  }
}
