import type { MountInfo, MountTable } from './mount-table.ts'

/**
 * Finds hidden mounts: another mount hides them, no path reaches them, and a call on their path acts on the other mount.
 * Often the cause is a kubelet's root directory that was bind-mounted on itself after its volumes were mounted; or, if the
 * root directory was shared, every mount below has hidden copies (O35).
 *
 * @see proc_pid_mountinfo(5), parent ID
 */
export class Covers {
  readonly #table: MountTable
  /** For each directory: by the parent of a mount in it, the mount that hides it. */
  readonly #byDirectory = new Map<string, ReadonlyMap<number, MountInfo>>()
  /** Where each mount of a stack is in it, by id. */
  readonly #placed = new Map<number, PlaceInStack>()

  constructor(table: MountTable) {
    this.#table = table.raw
  }

  /**
   * The mount that hides this one: it has the same parent mount, and is nearer to the root. What is stacked on a hidden mount is
   * hidden as well. Undefined: the mount is not hidden.
   */
  of(given: MountInfo): MountInfo | undefined {
    const mount = given.raw ?? given
    if (mount.mountPoint === '/') return undefined
    const covers = this.#coversIn(directoryOf(mount.mountPoint))
    return covers.size === 0 ? undefined : covers.get(this.#parentOfStack(mount))
  }

  /**
   * Those of the mounts on one path that are not hidden, oldest first, whatever their order in the table; the last one is
   * visible.
   */
  reached(mounts: readonly MountInfo[]): readonly MountInfo[] {
    const found = mounts.filter((mount) => this.of(mount) === undefined)
    if (found.length < 2) return found
    const depths = new Map(found.map((mount) => [mount, this.#placeInStack(mount.raw ?? mount).depth]))
    return found.toSorted((a, b) => (depths.get(a) ?? 0) - (depths.get(b) ?? 0))
  }

  /** The id of the mount that the lowest of the stack is on. Nearly every mount is alone on its path. */
  #parentOfStack(mount: MountInfo): number {
    const below = this.#table.byId(mount.parentId)
    if (below === undefined || below.mountPoint !== mount.mountPoint) return mount.parentId
    return this.#placeInStack(mount).parentId
  }

  /** Down to the mount that is on one of another path. Each is looked at once: anybody may stack 100,000 mounts on a path. */
  #placeInStack(mount: MountInfo): PlaceInStack {
    const above: MountInfo[] = []
    const seen = new Set<MountInfo>()
    let place: PlaceInStack | undefined
    for (let each: MountInfo | undefined = mount; each !== undefined; each = this.#table.byId(each.parentId)) {
      // In a damaged table, parents may form a circle.
      if (each.mountPoint !== mount.mountPoint || seen.has(each)) break
      place = this.#placed.get(each.id)
      if (place !== undefined) break
      seen.add(each)
      above.push(each)
    }
    place ??= { parentId: above.at(-1)?.parentId ?? mount.parentId, depth: 0 }
    for (const each of above.reverse()) {
      place = { parentId: place.parentId, depth: place.depth + 1 }
      this.#placed.set(each.id, place)
    }
    return place
  }

  #coversIn(directory: string): ReadonlyMap<number, MountInfo> {
    const known = this.#byDirectory.get(directory)
    if (known !== undefined) return known
    const above = directory === '/' ? NOTHING : this.#coversIn(directoryOf(directory))
    const here = this.#table.at(directory)
    const covers = here.length === 0 ? above : this.#with(above, here)
    this.#byDirectory.set(directory, covers)
    return covers
  }

  #with(above: ReadonlyMap<number, MountInfo>, here: readonly MountInfo[]): ReadonlyMap<number, MountInfo> {
    const covers = new Map(above)
    for (const mount of here) {
      const cover = above.get(this.#parentOfStack(mount))
      // What is mounted on a hidden mount is hidden as well.
      if (cover !== undefined) covers.set(mount.id, cover)
    }
    // The root mount may be its own parent.
    for (const mount of here) if (mount.parentId !== mount.id) covers.set(mount.parentId, mount)
    return covers
  }
}

interface PlaceInStack {
  /** The id of the mount that the lowest of the stack is on. */
  readonly parentId: number
  /** How many mounts of the stack there are up to this one. */
  readonly depth: number
}

/** Of an absolute path without a slash at its end, as the table has them. */
function directoryOf(path: string): string {
  const slash = path.lastIndexOf('/')
  return slash <= 0 ? '/' : path.slice(0, slash)
}

const NOTHING: ReadonlyMap<number, MountInfo> = new Map()
