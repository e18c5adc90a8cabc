import { ListedEntry } from '../../actual/listed-entry.ts'
import type { TreeWalk } from './tree-walk.ts'

/** P21. */
const READY = 'ready'

/** The markers in a pod's `plugins`. */
export class Markers {
  readonly #walk: TreeWalk
  readonly #path: string
  /** Rarely: nobody mounts anything there. */
  readonly #hasMounts: boolean

  /** @param path relative to the root directory */
  constructor(walk: TreeWalk, path: string) {
    this.#walk = walk
    this.#path = path
    this.#hasMounts = walk.mountPoints.isAbove(path)
  }

  /** Reads only the marker, with its directory: asks for it by its name, and lists the directory only where it is not there. */
  read(plugin: string, name: string): void {
    const directory = new ListedEntry(`${this.#path}/${plugin}`, name, 'dir')
    if (this.#hasMounts && this.#walk.mountPoints.at(directory.path) !== undefined) {
      // What is mounted there might hang: whether the volume is set up is unknown.
      directory.error = 'EXDEV'
    } else {
      const marker = new ListedEntry(directory.path, READY, 'file')
      const isMissing =
        (this.#hasMounts && this.#walk.mountPoints.at(marker.path) !== undefined) || !this.#walk.emitFile(marker)
      if (isMissing && this.#walk.children(directory).length === 0) return
    }
    this.#walk.emit(directory)
  }
}
