import { posix } from 'node:path'
import { withoutLink, withoutLinks } from './linked-mounts.ts'
import type { MountInfo, MountTable } from './mount-table.ts'

/**
 * Mounts that others lie over: no path leads to them any more, and what is done at their path happens to what lies over
 * them. Often a kubelet's root directory that was bound over itself after its volumes were mounted.
 *
 * @see proc_pid_mountinfo(5), parent ID
 */
export class Covers {
  readonly #table: MountTable
  /** Of each directory: by what a mount in it is mounted on, what then lies over that mount. */
  readonly #byDirectory = new Map<string, ReadonlyMap<number, MountInfo>>()

  constructor(table: MountTable) {
    this.#table = withoutLinks(table)
  }

  /** The mount that lies over this one's way: it is on the same mount, nearer to the root. Undefined: none is. */
  of(mount: MountInfo): MountInfo | undefined {
    const { mountPoint, parentId } = withoutLink(mount)
    return mountPoint === '/' ? undefined : this.#coversIn(posix.dirname(mountPoint)).get(parentId)
  }

  #coversIn(directory: string): ReadonlyMap<number, MountInfo> {
    const known = this.#byDirectory.get(directory)
    if (known !== undefined) return known
    const covers = new Map(directory === '/' ? [] : this.#coversIn(posix.dirname(directory)))
    const here = this.#table.at(directory)
    for (const mount of here) {
      const cover = covers.get(mount.parentId)
      // What is on a covered mount is covered with it.
      if (cover !== undefined) covers.set(mount.id, cover)
    }
    for (const mount of here) covers.set(mount.parentId, mount)
    this.#byDirectory.set(directory, covers)
    return covers
  }
}
