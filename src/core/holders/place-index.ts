import { PathIndex } from '../lang/path-index.ts'
import type { Location } from '../mountinfo/location.ts'

/** Values by their place: the file system, and the path inside it. */
export class PlaceIndex<T> {
  readonly #byDev: ReadonlyMap<string, PathIndex<T>>

  constructor(entries: Iterable<readonly [Location, T]>) {
    const byDev = Map.groupBy(entries, ([{ dev }]) => dev)
    this.#byDev = new Map(
      [...byDev].map(([dev, own]) => [dev, new PathIndex(own.map(([{ path }, value]) => [path, value] as const))]),
    )
  }

  /** Each value once. @param top values at parent directories count too, up to this one */
  within({ dev, path }: Location, top = path): T[] {
    const index = this.#byDev.get(dev)
    if (index === undefined) return []
    const found = index.within(path).concat(index.above(path, top))
    return found.length < 2 ? found : [...new Set(found)]
  }
}
