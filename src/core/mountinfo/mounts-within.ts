import { append } from '../lang/append.ts'
import type { MountInfo } from './mount-table.ts'

/** Mounts indexed by every directory above them: there may be a hundred thousand, and every volume asks for its own. */
export class MountsWithin {
  readonly #byDirectory = new Map<string, MountInfo[]>()

  /** @param pathOf relative to the root directory */
  constructor(mounts: readonly MountInfo[], pathOf: (mount: MountInfo) => string) {
    for (const mount of mounts) {
      const path = pathOf(mount)
      for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) this.#add(path.slice(0, end), mount)
    }
  }

  /** Mounts at or below a directory, in table order. */
  of(directory: string): readonly MountInfo[] {
    return this.#byDirectory.get(directory) ?? []
  }

  #add(directory: string, mount: MountInfo): void {
    append(this.#byDirectory, directory, mount)
  }
}
