/**
 * Lists an unmounted directory that containers may write to: names and attributes, no content.
 *
 * Walks by descriptors, never by paths: a container that swaps a directory for a link meanwhile must not lead volctl to
 * another file system, where a call might hang. A container may give its files any name, and each of them counts (S13); it may
 * make millions of them.
 */
import { closing } from '../../base/closing.ts'
import { ListedEntry } from '../../facts/actual/tree.ts'
import { entriesIn, entryPath, nameOf } from '../../linux/descriptors.ts'
import { openListing } from '../../trust/plain-files.ts'
import { errorText, lstatEntry } from './tree-entry.ts'
import type { TreeWalk } from './tree-walk.ts'

const MAX_ENTRIES = 10_000
const MAX_DEPTH = 500

/** @param top the volume's own entry, which gets the error if there are more entries than the limit */
export function walkContent(walk: TreeWalk, top: ListedEntry): void {
  let left = MAX_ENTRIES
  const enter = (at: string | Buffer, directory: ListedEntry, depth: number): void => {
    try {
      closing(openListing(at), (fd) => list(fd, directory, depth))
    } catch (error) {
      directory.error ??= errorText(error)
    }
  }
  const list = (fd: number, { path: parent }: ListedEntry, depth: number): void => {
    const hasMounts = walk.hasMountsBelow(parent)
    for (const dirent of entriesIn(fd, left + 1)) {
      if (--left < 0) return
      const bytes = nameOf(dirent)
      const name = bytes.toString()
      const mount = hasMounts ? walk.mountOn(`${parent}/${name}`) : undefined
      // Closed: nobody asks for it by its path, which may lead elsewhere by now (S36).
      const entry = new ListedEntry(parent, name, walk.typeOf(mount, dirent), 'closed')
      const at = entryPath({ fd }, bytes)
      if (mount === undefined && !lstatEntry(entry, at)) continue
      walk.emit(entry)
      if (mount !== undefined || entry.type !== 'dir') continue
      if (depth === MAX_DEPTH) entry.error = `deeper than ${MAX_DEPTH} levels`
      else enter(at, entry, depth + 1)
    }
  }
  enter(walk.absolute(top.path), top, 0)
  if (left < 0) top.error = `more than ${MAX_ENTRIES} entries`
}
