import { closeSync, fstatSync, readSync, type Stats } from 'node:fs'
import type { ListedEntry } from '../../facts/actual/tree.ts'
import { digest } from '../../trust/digest.ts'
import { NotPlain, openPlain } from '../../trust/plain-files.ts'
import { addAttributes, errorText } from './tree-entry.ts'

/** Limit of a state file, in bytes; a real one has a few hundred. */
const MAX_STATE_FILE = 64 * 1024

/** The API server allows 1 MiB in a config map or secret. */
const MAX_DIGESTED = 2 * 1024 * 1024

const buffer = Buffer.allocUnsafeSlow(MAX_STATE_FILE)

/** Content and attributes of a state file (vol_data.json, iscsi.json), with a size cap. */
export function readStateFile(entry: ListedEntry, path: string): void {
  withFile(entry, path, (fd, stat) => {
    addAttributes(entry, stat)
    if (stat.size > MAX_STATE_FILE) {
      entry.error = `larger than ${MAX_STATE_FILE} bytes`
      return
    }
    entry.content = buffer.toString('utf8', 0, readWhole(fd, buffer))
  })
}

/** Digest and size of a file that an atomic writer wrote; its content is not kept. */
export function digestFile(entry: ListedEntry, path: string): void {
  withFile(entry, path, (fd, stat) => {
    const length = readWhole(fd, buffer, stat.size)
    if (length < buffer.length) {
      entry.size = length
      entry.digest = digest(buffer.subarray(0, length))
      return
    }
    const { size } = fstatSync(fd)
    entry.size = size
    if (size > MAX_DIGESTED) return
    const whole = Buffer.allocUnsafe(size + 1)
    const read = readWhole(fd, whole)
    entry.size = read
    entry.digest = digest(whole.subarray(0, read))
  })
}

/** Opens a regular file, no link followed; a fifo in its place does not block. */
function withFile(entry: ListedEntry, path: string, work: (fd: number, stat: Stats) => void): void {
  let fd: number | undefined
  try {
    const file = openPlain(path)
    fd = file.fd
    work(fd, file.stats)
  } catch (error) {
    entry.error = error instanceof NotPlain ? 'no longer a regular file' : errorText(error)
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

/** @param enough the file's size: if so much was read, no further read is needed to find the end */
function readWhole(fd: number, into: Buffer, enough = Number.POSITIVE_INFINITY): number {
  let length = 0
  while (length < into.length && length !== enough) {
    const read = readSync(fd, into, length, into.length - length, length)
    if (read === 0) break
    length += read
  }
  return length
}
