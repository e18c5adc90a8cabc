import { posix } from 'node:path'
import { withoutLink, withoutLinks } from './linked-mounts.ts'
import type { MountInfo, MountTable } from './mount-table.ts'

/**
 * Mounts that others lie over: no path leads to them any more, and what is done at their path happens to what lies over
 * them. Often a kubelet's root directory that was bound over itself after its volumes were mounted, or one that is
 * shared and bound over itself, below which every mount has copies that nothing leads to (O35).
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

  /**
   * The mount that lies over this one's way: it is on the same mount, nearer to the root. One that is stacked on a mount
   * that is covered is covered with it. Undefined: none is.
   */
  of(given: MountInfo): MountInfo | undefined {
    const mount = withoutLink(given)
    if (mount.mountPoint === '/') return undefined
    const covers = this.#coversIn(posix.dirname(mount.mountPoint))
    return covers.size === 0 ? undefined : covers.get(this.#stackOf(mount).at(-1)?.parentId ?? mount.parentId)
  }

  /** Those on this path that a path leads to, oldest first, whatever their order in the table is; the last one is seen. */
  reached(path: string): readonly MountInfo[] {
    const found = this.#table.at(path).filter((mount) => this.of(mount) === undefined)
    if (found.length < 2) return found
    const depths = new Map(found.map((mount) => [mount, this.#stackOf(mount).length]))
    return found.toSorted((a, b) => (depths.get(a) ?? 0) - (depths.get(b) ?? 0))
  }

  /** The mount itself and those below it on the same path, down to the one that is on a mount of another path. */
  #stackOf(mount: MountInfo): readonly MountInfo[] {
    const stack = new Set([mount])
    for (let each: MountInfo | undefined = mount; each !== undefined; ) {
      each = this.#table.byId(each.parentId)
      // A damaged table may lead in a circle.
      if (each === undefined || each.mountPoint !== mount.mountPoint || stack.has(each)) break
      stack.add(each)
    }
    return [...stack]
  }

  #coversIn(directory: string): ReadonlyMap<number, MountInfo> {
    const known = this.#byDirectory.get(directory)
    if (known !== undefined) return known
    const above = directory === '/' ? NOTHING : this.#coversIn(posix.dirname(directory))
    const here = this.#table.at(directory)
    const covers = here.length === 0 ? above : this.#with(above, here)
    this.#byDirectory.set(directory, covers)
    return covers
  }

  #with(above: ReadonlyMap<number, MountInfo>, here: readonly MountInfo[]): ReadonlyMap<number, MountInfo> {
    const covers = new Map(above)
    for (const mount of here) {
      const cover = above.get(this.#stackOf(mount).at(-1)?.parentId ?? mount.parentId)
      // What is on a covered mount is covered with it.
      if (cover !== undefined) covers.set(mount.id, cover)
    }
    // The first mount of all may be on itself.
    for (const mount of here) if (mount.parentId !== mount.id) covers.set(mount.parentId, mount)
    return covers
  }
}

const NOTHING: ReadonlyMap<number, MountInfo> = new Map()
