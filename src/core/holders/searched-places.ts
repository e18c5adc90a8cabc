/** Where holders are looked for: paths in our own mount namespace, and the same files in every other one. */
import { posix } from 'node:path'
import { isWithin } from '../files/path-within.ts'
import { undeletedPath, undeletedRoot } from '../mountinfo/deleted.ts'
import { ownPathOf } from '../mountinfo/linked-mounts.ts'
import { type Location, locate } from '../mountinfo/location.ts'
import type { MountInfo, MountTable } from '../mountinfo/mount-table.ts'
import { goesWith } from '../mountinfo/propagation.ts'

/** Directories and mount points, with everything that is mounted below them. None of them is touched. */
export class Places {
  readonly table: MountTable
  readonly #paths: ReadonlySet<string>
  readonly #byDev = new Map<string, Set<string>>()
  readonly #mounts: readonly MountInfo[]

  /** @param paths absolute, of the table's namespace */
  constructor(table: MountTable, paths: readonly string[]) {
    this.table = table
    this.#paths = new Set(paths)
    const places = [...this.#paths].flatMap((path) => locate(table, path) ?? [])
    for (const place of places) this.#note(place)
    this.#mounts = [...new Set([...this.#paths].flatMap((path) => table.under(path)))]
    for (const mount of this.#mounts) {
      const location = { dev: mount.dev, path: rootOf(mount) }
      // A bind mount of the file system that the place itself is on says nothing about the place.
      if (!places.some((place) => place.dev === mount.dev && isWithin(place.path, location.path))) this.#note(location)
    }
  }

  /** @param path as seen in our own namespace */
  has(path: string): boolean {
    return isBelowAny(ownPathOf(this.table, path), this.#paths)
  }

  /** Every place, by file system. */
  get locations(): Location[] {
    return [...this.#byDev].flatMap(([dev, inside]) => [...inside].map((path) => ({ dev, path })))
  }

  /**
   * Mounts of another namespace that show these places and stay when ours are unmounted; copies of ours are left out (R032).
   */
  mountsIn(table: MountTable): MountInfo[] {
    return [...this.#byDev].flatMap(([dev, inside]) =>
      table
        .ofDevice(dev)
        .filter((mount) => isBelowAny(rootOf(mount), inside))
        .filter((mount) => !this.#mounts.some((ours) => goesWith(this.table, ours, mount, table))),
    )
  }

  #note({ dev, path }: Location): void {
    const known = this.#byDev.get(dev)
    if (known === undefined) this.#byDev.set(dev, new Set([path]))
    else known.add(path)
  }
}

function rootOf({ root }: MountInfo): string {
  return posix.normalize(undeletedRoot(root))
}

/** Walks up the path: there may be thousands of places, and of paths to compare with them. */
function isBelowAny(path: string, places: ReadonlySet<string>): boolean {
  for (let at = undeletedPath(path); ; at = posix.dirname(at)) {
    if (places.has(at)) return true
    if (at === '/' || at === '.') return false
  }
}
