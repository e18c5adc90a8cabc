import { PathIndex } from '../lang/path-index.ts'
import type { Location } from '../mountinfo/location.ts'

/** Values by where they lie: in which file system, at which path inside it. */
export class PlaceIndex<T> {
  readonly #byDev: ReadonlyMap<string, PathIndex<T>>

  constructor(entries: Iterable<readonly [Location, T]>) {
    const byDev = Map.groupBy(entries, ([{ dev }]) => dev)
    this.#byDev = new Map(
      [...byDev].map(([dev, own]) => [dev, new PathIndex(own.map(([{ path }, value]) => [path, value] as const))]),
    )
  }

  /** Each once, however often it lies there. @param top also what lies above, as high as this */
  within({ dev, path }: Location, top = path): T[] {
    const index = this.#byDev.get(dev)
    return index === undefined ? [] : [...new Set([...index.within(path), ...index.above(path, top)])]
  }
}
