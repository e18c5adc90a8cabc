import { posix } from 'node:path'
import type { MountInfo, MountTable } from './mount-table.ts'

/**
 * Mounts that others lie over: no path leads to them any more, and what is done at their path happens to what lies over
 * them. Often a kubelet's root directory that was bound over itself after its volumes were mounted.
 *
 * @see proc_pid_mountinfo(5), parent ID
 */
export class Covers {
  readonly #table: MountTable
  readonly #above = new Map<string, readonly MountInfo[]>()

  constructor(table: MountTable) {
    this.#table = table
  }

  /** The mount that lies over this one's way: it is on the same mount, nearer to the root. Undefined: none is. */
  of(mount: MountInfo): MountInfo | undefined {
    const above = this.#mountsAbove(posix.dirname(mount.mountPoint))
    for (let at = mount; ; ) {
      const cover = above.find(
        (other) => other.parentId === at.parentId && other.mountPoint.length < at.mountPoint.length,
      )
      if (cover !== undefined) return cover
      const parent = above.find(({ id }) => id === at.parentId)
      // Of two with one id, in a damaged table, neither leads up for ever.
      if (parent === undefined || parent.mountPoint.length >= at.mountPoint.length) return undefined
      at = parent
    }
  }

  /** On a directory and all that it lies in. */
  #mountsAbove(directory: string): readonly MountInfo[] {
    const known = this.#above.get(directory)
    if (known !== undefined) return known
    const here = this.#table.at(directory)
    const up = posix.dirname(directory)
    const above = up === directory ? here : [...here, ...this.#mountsAbove(up)]
    this.#above.set(directory, above)
    return above
  }
}
