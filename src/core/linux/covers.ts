import { once } from '../base/collections.ts'
import type { MountInfo, MountTable } from './mount-table.ts'

/**
 * Finds hidden mounts: another mount hides them, no path reaches them, and a call on their path acts on the other mount.
 * Often the cause is a kubelet's root directory that was bind-mounted on itself after its volumes were mounted; or, if the
 * root directory was shared, every mount below has hidden copies (O35).
 *
 * @see proc_pid_mountinfo(5), parent ID
 */
export function coversOf({ raw: table }: MountTable) {
  /** For each directory: by the parent of a mount in it, the mount that hides it. */
  const byDirectory = new Map<string, ReadonlyMap<number, MountInfo>>()
  /** Where each mount of a stack is in it, by id. */
  const placed = new Map<number, PlaceInStack>()

  /** Down to the mount that is on one of another path. Each is looked at once: anybody may stack 100,000 mounts on a path. */
  const placeInStack = (mount: MountInfo): PlaceInStack => {
    const above: MountInfo[] = []
    const seen = new Set<MountInfo>()
    let place: PlaceInStack | undefined
    for (let each: MountInfo | undefined = mount; each !== undefined; each = table.byId(each.parentId)) {
      // In a damaged table, parents may form a circle.
      if (each.mountPoint !== mount.mountPoint || seen.has(each)) break
      place = placed.get(each.id)
      if (place !== undefined) break
      seen.add(each)
      above.push(each)
    }
    place ??= { parentId: above.at(-1)?.parentId ?? mount.parentId, depth: 0 }
    for (const each of above.reverse()) {
      place = { parentId: place.parentId, depth: place.depth + 1 }
      placed.set(each.id, place)
    }
    return place
  }
  /** The id of the mount that the lowest of the stack is on. Nearly every mount is alone on its path. */
  const parentOfStack = (mount: MountInfo): number => {
    const isStacked = table.byId(mount.parentId)?.mountPoint === mount.mountPoint
    return isStacked ? placeInStack(mount).parentId : mount.parentId
  }
  const coversIn = (directory: string): ReadonlyMap<number, MountInfo> =>
    once(byDirectory, directory, () => {
      const above = directory === '/' ? NOTHING : coversIn(directoryOf(directory))
      const here = table.at(directory)
      if (here.length === 0) return above
      const covers = new Map(above)
      for (const mount of here) {
        const cover = above.get(parentOfStack(mount))
        // What is mounted on a hidden mount is hidden as well.
        if (cover !== undefined) covers.set(mount.id, cover)
      }
      // The root mount may be its own parent.
      for (const mount of here) if (mount.parentId !== mount.id) covers.set(mount.parentId, mount)
      return covers
    })
  /**
   * The mount that hides this one: it has the same parent mount, and is nearer to the root. What is stacked on a hidden mount is
   * hidden as well. Undefined: the mount is not hidden.
   */
  const of = (given: MountInfo): MountInfo | undefined => {
    const mount = given.raw ?? given
    if (mount.mountPoint === '/') return undefined
    const covers = coversIn(directoryOf(mount.mountPoint))
    return covers.size === 0 ? undefined : covers.get(parentOfStack(mount))
  }
  /**
   * Those of the mounts on one path that are not hidden, oldest first, whatever their order in the table; the last one is
   * visible.
   */
  const reached = (mounts: readonly MountInfo[]): readonly MountInfo[] => {
    const found = mounts.some(of) ? mounts.filter((mount) => of(mount) === undefined) : mounts
    if (found.length < 2) return found
    const depths = new Map(found.map((mount) => [mount, placeInStack(mount.raw ?? mount).depth]))
    return found.toSorted((a, b) => (depths.get(a) ?? 0) - (depths.get(b) ?? 0))
  }
  return { of, reached }
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
