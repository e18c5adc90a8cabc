import { append } from '../base/append.ts'
import type { MountInfo } from './mount-table.ts'
import { isWithin } from './paths.ts'

/** So few are looked through: an index for each pod of a node would take more memory than its mounts. */
const FEW = 8

/** Mounts indexed by every directory above them: there may be a hundred thousand, and every volume asks for its own. */
export class MountsWithin {
  readonly #mounts: readonly MountInfo[]
  readonly #pathOf: (mount: MountInfo) => string
  #byDirectory: ReadonlyMap<string, readonly MountInfo[]> | undefined

  /** @param pathOf relative to the root directory */
  constructor(mounts: readonly MountInfo[], pathOf: (mount: MountInfo) => string) {
    this.#mounts = mounts
    this.#pathOf = pathOf
  }

  /** Mounts at or below a directory, in table order. */
  of(directory: string): readonly MountInfo[] {
    if (this.#mounts.length <= FEW) return this.#mounts.filter((mount) => isWithin(this.#pathOf(mount), directory))
    this.#byDirectory ??= this.#indexed()
    return this.#byDirectory.get(directory) ?? []
  }

  #indexed(): ReadonlyMap<string, readonly MountInfo[]> {
    const byDirectory = new Map<string, MountInfo[]>()
    for (const mount of this.#mounts) {
      const path = this.#pathOf(mount)
      for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1))
        append(byDirectory, path.slice(0, end), mount)
    }
    return byDirectory
  }
}
