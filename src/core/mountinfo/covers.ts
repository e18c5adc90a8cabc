import type { MountInfo, MountTable } from './mount-table.ts'

/**
 * Mounts that others lie over: no path leads to them any more, and what is done at their path happens to what lies over
 * them. Often a kubelet's root directory that was bound over itself after its volumes were mounted.
 *
 * @see proc_pid_mountinfo(5), parent ID
 */
export class Covers {
  readonly #table: MountTable
  readonly #byDirectory = new Map<string, Above>()

  constructor(table: MountTable) {
    this.#table = table
  }

  /** The mount that lies over this one's way: it is on the same mount, nearer to the root. Undefined: none is. */
  of({ mountPoint, parentId }: MountInfo): MountInfo | undefined {
    return mountPoint === '/' ? undefined : this.#above(parentOf(mountPoint)).covers.get(parentId)
  }

  #above(directory: string): Above {
    const known = this.#byDirectory.get(directory)
    if (known !== undefined) return known
    const up = directory === '/' ? undefined : this.#above(parentOf(directory))
    const here = this.#table.at(directory)
    const covers = new Map(up?.covers)
    for (const mount of here) {
      const cover = covers.get(mount.parentId)
      // What is on a covered mount is covered with it.
      if (cover !== undefined) covers.set(mount.id, cover)
    }
    for (const mount of here) covers.set(mount.parentId, mount)
    const above = { covers }
    this.#byDirectory.set(directory, above)
    return above
  }
}

interface Above {
  /** By what a mount in the directory is mounted on: what then lies over it. */
  readonly covers: ReadonlyMap<number, MountInfo>
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/'
}
