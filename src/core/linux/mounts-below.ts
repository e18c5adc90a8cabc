/** Mounts below a directory, by the name in it: of a hundred thousand mounts, few pods are asked about. */

import { append } from '../base/append.ts'
import { once } from '../base/memoize.ts'
import { undeletedPath } from './deleted.ts'
import type { MountPaths } from './mount-paths.ts'
import type { MountInfo, MountsBelow } from './mount-table.ts'

/** From the index of a table, which has the rows of each directory together: a record is made when it is asked for. */
export class RowsBelow implements MountsBelow {
  /** Lists of whole directories. */
  readonly #rows = new Map<string, (readonly number[])[]>()
  readonly #records = new Map<string, readonly MountInfo[]>()
  readonly #recordsOf: (rows: readonly number[]) => readonly MountInfo[]

  /** @param directory "" for the root directory */
  constructor(
    paths: MountPaths,
    directory: string,
    recordsOf: (rows: readonly number[]) => readonly MountInfo[],
    nameOf: (row: number) => string,
  ) {
    this.#recordsOf = recordsOf
    const prefix = `${directory}/`
    for (const { path, rows } of paths.directories()) {
      if (path === directory) for (const row of rows) append(this.#rows, undeletedPath(nameOf(row)), [row])
      else if (path.startsWith(prefix)) append(this.#rows, firstName(path, prefix.length), rows)
    }
  }

  names(): Iterable<string> {
    const named = [...this.#rows].map(([name, lists]) => ({
      name,
      oldest: lists.reduce((least, [row = 0]) => Math.min(least, row), Number.POSITIVE_INFINITY),
    }))
    return named.sort((a, b) => a.oldest - b.oldest).map(({ name }) => name)
  }

  count(name: string): number {
    return (this.#rows.get(name) ?? []).reduce((sum, rows) => sum + rows.length, 0)
  }

  of(name: string): readonly MountInfo[] {
    return once(this.#records, name, () => this.#recordsOf(inTableOrder(this.#rows.get(name) ?? [])))
  }

  all(): readonly MountInfo[] {
    return this.#recordsOf(inTableOrder([...this.#rows.values()].flat()))
  }
}

/** From mounts that are at hand, in table order. */
export class ListedBelow implements MountsBelow {
  readonly #byName = new Map<string, MountInfo[]>()
  readonly #all: MountInfo[] = []

  /** @param directory "" for the root directory */
  constructor(mounts: readonly MountInfo[], directory: string) {
    const prefix = `${directory}/`
    for (const mount of mounts) {
      const path = undeletedPath(mount.mountPoint)
      if (!path.startsWith(prefix) || path === prefix) continue
      append(this.#byName, firstName(path, prefix.length), mount)
      this.#all.push(mount)
    }
  }

  names(): Iterable<string> {
    return this.#byName.keys()
  }

  count(name: string): number {
    return this.of(name).length
  }

  of(name: string): readonly MountInfo[] {
    return this.#byName.get(name) ?? []
  }

  all(): readonly MountInfo[] {
    return this.#all
  }
}

/** The component of a path that begins at `start`. */
function firstName(path: string, start: number): string {
  const end = path.indexOf('/', start)
  return path.slice(start, end === -1 ? undefined : end)
}

function inTableOrder(lists: readonly (readonly number[])[]): readonly number[] {
  const [only] = lists
  if (lists.length === 1 && only !== undefined) return only
  return lists.flat().sort((a, b) => a - b)
}
