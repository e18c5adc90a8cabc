import { type Dirent, lstatSync, readlinkSync, type Stats } from 'node:fs'
import { errnoOf, errorMessage } from '../../base/errors.ts'
import type { FileType } from '../../facts/actual/snapshot.ts'
import type { ListedEntry } from '../../facts/actual/tree.ts'

const MAY_BE_MISSING = { throwIfNoEntry: false } as const

/** The type by d_type, without a stat; "file" if the file system has no d_type. */
export function typeOfDirent(dirent: Dirent): FileType {
  if (dirent.isFile()) return 'file'
  if (dirent.isDirectory()) return 'dir'
  if (dirent.isSymbolicLink()) return 'link'
  if (dirent.isSocket()) return 'socket'
  if (dirent.isFIFO()) return 'fifo'
  if (dirent.isBlockDevice()) return 'block'
  return dirent.isCharacterDevice() ? 'char' : 'file'
}

function typeOfStat(stat: Stats): FileType {
  if (stat.isFile()) return 'file'
  if (stat.isDirectory()) return 'dir'
  if (stat.isSymbolicLink()) return 'link'
  if (stat.isSocket()) return 'socket'
  if (stat.isFIFO()) return 'fifo'
  return stat.isBlockDevice() ? 'block' : 'char'
}

/** Adds an entry's attributes from lstat, in the snapshot's form. */
export function addAttributes(entry: ListedEntry, stat: Stats): void {
  entry.type = typeOfStat(stat)
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
    entry.error = errorText(error)
  }
  return true
}

/** Is there a plain file, not a link to one? An error counts as no. Never for a mount point. */
export function isFile(path: string): boolean {
  try {
    return lstatSync(path, MAY_BE_MISSING)?.isFile() ?? false
  } catch {
    return false
  }
}

/** Reads only where a link points to. A link that is gone stays in the list without a target. */
export function readTarget(entry: ListedEntry, path: string): void {
  try {
    entry.target = readlinkSync(path)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') entry.error = errorText(error)
  }
}

/** Short enough for a table; without the path, which the entry has. */
export function errorText(error: unknown): string {
  return errnoOf(error) ?? errorMessage(error)
}
