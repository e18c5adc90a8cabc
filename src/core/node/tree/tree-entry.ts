import { type Dirent, lstatSync, readlinkSync, type Stats } from 'node:fs'
import { errnoOf, errorMessage } from '../../errors/errors.ts'
import type { FileType, TreeEntry } from '../../model/snapshot.ts'

/** A TreeEntry while it is being filled in. */
export type Draft = { -readonly [Key in keyof TreeEntry]: TreeEntry[Key] }

/** d_type of a directory entry: no stat. "file" where the file system does not say. */
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

/** Everything that lstat says of an entry, in the snapshot's form. */
export function addAttributes(entry: Draft, stat: Stats): void {
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
 * @returns false where the entry is gone
 */
export function lstatEntry(entry: Draft, path: string): boolean {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (stat === undefined) return false
    addAttributes(entry, stat)
    if (entry.type === 'link') entry.target = readlinkSync(path)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false
    entry.error = errorText(error)
  }
  return true
}

/** Where a link points to, and nothing else of it. A link that is gone keeps its name. */
export function readTarget(entry: Draft, path: string): void {
  try {
    entry.target = readlinkSync(path)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') entry.error = errorText(error)
  }
}

/** Short enough for a table, without the path, which the entry has. */
export function errorText(error: unknown): string {
  return errnoOf(error) ?? errorMessage(error)
}
