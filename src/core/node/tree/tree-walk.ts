import { type Dirent, readdirSync } from 'node:fs'
import { baseName, parentOf } from '../../actual/tree.ts'
import type { TreeEntry } from '../../model/snapshot.ts'
import { STATE_FILES } from '../../plugins/state-files.ts'
import type { MountPoints } from './mount-points.ts'
import { readStateFile } from './read-small-file.ts'
import type { StructureLinks } from './structure-links.ts'
import { type Draft, errorText, isFile, lstatEntry, typeOfDirent } from './tree-entry.ts'

/** The entries read so far, and the only calls by which a walk over the kubelet's directories touches the disk. */
export class TreeWalk {
  readonly rootDir: string
  readonly mountPoints: MountPoints
  readonly #entries: Draft[] = []
  readonly #gone = new Set<Draft>()
  /** Mount points that may not be entered, and those that may. */
  readonly #closed = new Set<Draft>()
  readonly #open = new Set<Draft>()

  readonly #places: ReadonlyMap<string, string>
  readonly #unknown: StructureLinks['unknown']

  constructor(rootDir: string, mountPoints: MountPoints, { links, unknown }: StructureLinks) {
    this.rootDir = rootDir
    this.mountPoints = mountPoints
    this.#places = new Map(links.map(({ path, place }) => [path, place]))
    this.#unknown = unknown
  }

  entries(): readonly TreeEntry[] {
    return this.#gone.size === 0 ? this.#entries : this.#entries.filter((entry) => !this.#gone.has(entry))
  }

  emit(entry: Draft): void {
    this.#entries.push(entry)
  }

  absolute(path: string): string {
    return `${this.rootDir}/${path}`
  }

  /** All entries of a directory, by name and type; an error is noted in the directory's entry. */
  children(directory: Draft): readonly Draft[] {
    try {
      return this.entriesOf(directory.path, readdirSync(this.absolute(directory.path), { withFileTypes: true }))
    } catch (error) {
      const text = errorText(error)
      if (text === 'ENOENT') this.#gone.add(directory)
      else directory.error = text
      return []
    }
  }

  /** @param parent relative to the root directory, "" for the root itself */
  entriesOf(parent: string, dirents: readonly Dirent[]): readonly Draft[] {
    const mounted = this.mountPoints.childrenOf(parent)
    const enterable = mounted && this.mountPoints.enterable(parent)
    const prefix = parent === '' ? '' : `${parent}/`
    return dirents.map((dirent) => {
      const path = prefix + dirent.name
      const mount = mounted?.(dirent.name)
      const entry: Draft = {
        path,
        type: mount === undefined ? typeOfDirent(dirent) : this.mountPoints.typeOf(mount, dirent),
      }
      if (entry.type === 'link') this.#noteLink(entry)
      if (mount !== undefined) (enterable?.(path, mount) ? this.#open : this.#closed).add(entry)
      this.emit(entry)
      return entry
    })
  }

  /** Adds a plain file that is there, without attributes; false if it is not, or if something on the way to it is a mount. */
  hasFile(path: string): boolean {
    if (this.mountPoints.at(path) !== undefined || this.mountPoints.at(parentOf(path)) !== undefined) return false
    if (!isFile(this.absolute(path))) return false
    this.emit({ path, type: 'file' })
    return true
  }

  /** True for a directory, or a followed link to one. */
  isDirectory({ type, realPath }: Draft): boolean {
    return type === 'dir' || realPath !== undefined
  }

  #noteLink(entry: Draft): void {
    const place = this.#places.get(this.absolute(entry.path))
    if (place !== undefined) entry.realPath = place
    const why = this.#unknown.get(entry.path)
    if (why !== undefined) entry.error = why
  }

  isMountPoint(entry: Draft): boolean {
    return this.#closed.has(entry) || this.#open.has(entry)
  }

  mayEnter(entry: Draft): boolean {
    return !this.#closed.has(entry)
  }

  /** Reads attributes by lstat, unless the entry has them, or is a mount point that may not be entered. */
  attributes(entry: Draft): void {
    if (entry.mode !== undefined || !this.mayEnter(entry)) return
    if (!lstatEntry(entry, this.absolute(entry.path))) this.#gone.add(entry)
  }

  isStateFile(entry: Draft): boolean {
    return entry.type === 'file' && STATE_FILES.has(baseName(entry.path)) && !this.isMountPoint(entry)
  }

  /** Reads a state file's attributes and content. */
  stateFile(entry: Draft): void {
    readStateFile(entry, this.absolute(entry.path))
    if (entry.error === 'ENOENT') this.#gone.add(entry)
  }
}
