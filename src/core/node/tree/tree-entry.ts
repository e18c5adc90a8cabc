/** What is read of one entry of the kubelet's directories: its type, its attributes, the content of a small file. */

import { type Dirent, lstatSync, readlinkSync, type Stats } from 'node:fs'
import { closing, errnoOf, errorWord } from '../../messages/findings.ts'
import { digest } from '../../trust/digest.ts'
import { ifAny } from '../../trust/kernel.ts'
import { NotPlain, openPlain, readToLimit } from '../../trust/plain-files.ts'
import type { ListedEntry } from '../../volumes/on-disk/tree.ts'
import type { FileType } from '../../volumes/snapshot.ts'

const MAY_BE_MISSING = { throwIfNoEntry: false } as const

/** By d_type without a stat, or by a stat; "file" if the file system has no d_type. */
export function typeOf(found: Dirent | Stats): FileType {
  if (found.isFile()) return 'file'
  if (found.isDirectory()) return 'dir'
  if (found.isSymbolicLink()) return 'link'
  if (found.isSocket()) return 'socket'
  if (found.isFIFO()) return 'fifo'
  if (found.isBlockDevice()) return 'block'
  return found.isCharacterDevice() ? 'char' : 'file'
}

/** Adds an entry's attributes from lstat, in the snapshot's form. */
function addAttributes(entry: ListedEntry, stat: Stats): void {
  entry.type = typeOf(stat)
  entry.mode = (stat.mode & 0o7777).toString(8)
  entry.uid = stat.uid
  entry.gid = stat.gid
  entry.size = stat.size
  entry.dev = stat.dev
  entry.ino = stat.ino
  entry.mtime = Math.floor(stat.mtimeMs / 1000)
}

/**
 * Attributes, and the target of a link. Never for a mount point.
 *
 * @returns false if the entry is gone
 */
export function lstatEntry(entry: ListedEntry, path: string | Buffer): boolean {
  try {
    const stat = lstatSync(path, MAY_BE_MISSING)
    if (stat === undefined) return false
    addAttributes(entry, stat)
    if (entry.type === 'link') entry.target = readlinkSync(path)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false
    entry.error = errorWord(error)
  }
  return true
}

/** Undefined: the path is missing, or cannot be read. Never for a mount point. */
export function lookedAt(path: string): Stats | undefined {
  return ifAny(() => lstatSync(path, MAY_BE_MISSING))
}

/** Reads only where a link points to. A link that is gone stays in the list without a target. */
export function readTarget(entry: ListedEntry, path: string): void {
  try {
    entry.target = readlinkSync(path)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') entry.error = errorWord(error)
  }
}

// Small files.

/** Limit of a state file, in bytes; a real one has a few hundred. */
const MAX_STATE_FILE = 64 * 1024

/** The API server allows 1 MiB in a config map or secret. */
const MAX_DIGESTED = 2 * 1024 * 1024

/** Content and attributes of a state file (vol_data.json, iscsi.json), with a size cap. */
export function readStateFile(entry: ListedEntry, path: string): void {
  withFile(entry, path, (fd, stat) => {
    addAttributes(entry, stat)
    if (stat.size > MAX_STATE_FILE) throw new Error(`larger than ${MAX_STATE_FILE} bytes`)
    entry.content = readToLimit(fd, MAX_STATE_FILE).toString()
  })
}

/**
 * Digest and size of a file that an atomic writer wrote; its content is not kept. One that is gone stays in the list without them: the kubelet
 * writes tokens again and again.
 */
export function digestFile(entry: ListedEntry, path: string): void {
  withFile(entry, path, (fd, stat) => {
    entry.size = stat.size
    if (stat.size > MAX_DIGESTED) return
    const bytes = readToLimit(fd, MAX_DIGESTED)
    entry.size = bytes.length
    entry.digest = digest(bytes)
  })
  if (entry.error === 'ENOENT') entry.error = undefined
}

/** Opens a regular file, no link followed; a fifo in its place does not block. */
function withFile(entry: ListedEntry, path: string, work: (fd: number, stat: Stats) => void): void {
  try {
    const { fd, stats } = openPlain(path)
    closing(fd, () => work(fd, stats))
  } catch (error) {
    entry.error = error instanceof NotPlain ? 'no longer a regular file' : errorWord(error)
  }
}
