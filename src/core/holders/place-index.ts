import type { Location } from '../apply/location.ts'
import { PathIndex } from '../path-index.ts'

/** Values by where they lie: in which file system, at which path inside it. */
export class PlaceIndex<T> {
  readonly #byDev: ReadonlyMap<string, PathIndex<T>>

  constructor(entries: Iterable<readonly [Location, T]>) {
    const byDev = Map.groupBy(entries, ([{ dev }]) => dev)
    this.#byDev = new Map(
      [...byDev].map(([dev, own]) => [dev, new PathIndex(own.map(([{ path }, value]) => [path, value] as const))]),
    )
  }

  /** Each once, however often it lies there. */
  within({ dev, path }: Location): T[] {
    return [...new Set(this.#byDev.get(dev)?.within(path))]
  }
}
