/**
 * Lists an unmounted directory that containers may write to: names and attributes, no content.
 *
 * Walks by descriptors, never by paths: a container that swaps a directory for a link meanwhile must not lead volctl to
 * another file system, where a call might hang.
 */
import { closeSync, type Dirent } from 'node:fs'
import { ListedEntry, mayNotBeUtf8 } from '../../facts/actual/tree.ts'
import { Entries, nameOf } from '../../linux/descriptors.ts'
import { openListing } from '../../trust/plain-files.ts'
import { errorText, lstatEntry, typeOf } from './tree-entry.ts'
import type { TreeWalk } from './tree-walk.ts'

const MAX_ENTRIES = 10_000
const MAX_DEPTH = 500

/** @param top the volume's own entry, which gets the error if there are more entries than the limit */
export function walkContent(walk: TreeWalk, top: ListedEntry): void {
  const budget = { left: MAX_ENTRIES }
  enter(walk, walk.absolute(top.path), top, budget, 0)
  if (budget.left < 0) top.error = `more than ${MAX_ENTRIES} entries`
}

function enter(
  walk: TreeWalk,
  path: string | Buffer,
  entry: ListedEntry,
  budget: { left: number },
  depth: number,
): void {
  let fd: number | undefined
  try {
    fd = openListing(path)
    const hasMounts = walk.hasMountsBelow(entry.path)
    for (const found of list(fd, budget.left + 1)) {
      if (--budget.left < 0) return
      visit(walk, entry, found, hasMounts, budget, depth)
    }
  } catch (error) {
    entry.error ??= errorText(error)
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

interface Found {
  readonly dirent: Dirent
  /** Bytes where its name is not UTF-8. */
  readonly path: string | Buffer
}

/** A container may give its files any name, and each of them counts (S13). It may make millions of them. */
function list(directory: number, most: number): Found[] {
  const entries = new Entries(directory)
  try {
    return entries.upTo(most).map((dirent) => {
      const bytes = nameOf(dirent)
      const name = bytes.toString()
      const path = `/proc/self/fd/${directory}/${name}`
      return {
        dirent: Object.assign(dirent, { name }),
        path: mayNotBeUtf8(name) ? Buffer.concat([Buffer.from(`/proc/self/fd/${directory}/`), bytes]) : path,
      }
    })
  } finally {
    entries.close()
  }
}

function visit(
  walk: TreeWalk,
  parent: ListedEntry,
  { dirent, path }: Found,
  hasMounts: boolean,
  budget: { left: number },
  depth: number,
): void {
  const { name } = dirent
  const mount = hasMounts ? walk.mountOn(`${parent.path}/${name}`) : undefined
  if (mount !== undefined) {
    walk.emit(new ListedEntry(parent.path, name, walk.typeOf(mount, dirent)))
    return
  }
  const entry = new ListedEntry(parent.path, name, typeOf(dirent))
  if (!lstatEntry(entry, path)) return
  walk.emit(entry)
  if (entry.type !== 'dir') return
  if (depth === MAX_DEPTH) entry.error = `deeper than ${MAX_DEPTH} levels`
  else enter(walk, path, entry, budget, depth + 1)
}
