import { type Dirent, readdirSync } from 'node:fs'
import { posix } from 'node:path'
import type { TreeEntry } from '../../facts/actual/snapshot.ts'
import { ListedEntry, mayNotBeUtf8, NOT_UTF8 } from '../../facts/actual/tree.ts'
import { STATE_FILES } from '../../volumes/state-files.ts'
import type { MountPoints } from './mount-points.ts'
import { readStateFile } from './read-small-file.ts'
import type { StructureLinks } from './structure-links.ts'
import { errorText, isFile, lstatEntry, typeOfDirent } from './tree-entry.ts'

/** The entries read so far, and the only calls by which a walk over the kubelet's directories touches the disk. */
export class TreeWalk {
  readonly rootDir: string
  readonly mountPoints: MountPoints
  readonly #entries: ListedEntry[] = []
  readonly #gone = new Set<ListedEntry>()
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

  emit(entry: ListedEntry): void {
    this.#entries.push(entry)
  }

  /** The directory that it is in as its links were followed: by now one may lead anywhere (S36). */
  absolute(path: string): string {
    const own = `${this.rootDir}/${path}`
    return this.#places.size === 0 ? own : `${this.mountPoints.placeOf(posix.dirname(own))}/${posix.basename(own)}`
  }

  /** All entries of a directory, by name and type; an error is noted in the directory's entry. */
  children(directory: ListedEntry): readonly ListedEntry[] {
    try {
      const place = directory.realPath ?? this.absolute(directory.path)
      return this.entriesOf(directory.path, readdirSync(place, { withFileTypes: true }))
    } catch (error) {
      const text = errorText(error)
      if (text === 'ENOENT') this.#missing(directory)
      else directory.error = text
      return []
    }
  }

  /** @param parent relative to the root directory, "" for the root itself */
  entriesOf(parent: string, dirents: readonly Dirent[]): readonly ListedEntry[] {
    const mounted = this.mountPoints.childrenOf(parent)
    const enterable = mounted && this.mountPoints.enterable(parent, mounted)
    const directory = parent === '' ? '.' : parent
    const entries: ListedEntry[] = []
    for (const dirent of dirents) {
      const { name } = dirent
      let entry: ListedEntry
      if (!mounted?.has(name)) entry = new ListedEntry(directory, name, typeOfDirent(dirent))
      else {
        const onTop = enterable?.(name) ? 'open' : 'closed'
        entry = new ListedEntry(directory, name, this.mountPoints.typeOf(mounted, dirent), onTop)
      }
      if (entry.type === 'link') this.#noteLink(entry)
      this.#entries.push(entry)
      entries.push(entry)
    }
    return entries
  }

  /** Adds a plain file, without attributes, if it is there. Never for what is behind a mount. */
  emitFile(file: ListedEntry): boolean {
    const isThere = isFile(this.absolute(file.path))
    if (isThere) this.emit(file)
    return isThere
  }

  /** True for a directory, or a followed link to one. */
  isDirectory({ type, realPath }: ListedEntry): boolean {
    return type === 'dir' || realPath !== undefined
  }

  #noteLink(entry: ListedEntry): void {
    if (this.#places.size === 0 && this.#unknown.size === 0) return
    const place = this.#places.get(`${this.rootDir}/${entry.path}`)
    if (place !== undefined) entry.realPath = place
    const why = this.#unknown.get(entry.path)
    if (why !== undefined) entry.error = why
  }

  isMountPoint(entry: ListedEntry): boolean {
    return entry.onTop !== undefined
  }

  mayEnter(entry: ListedEntry): boolean {
    return entry.onTop !== 'closed'
  }

  /** Reads attributes by lstat, unless the entry has them, or is a mount point that may not be entered. */
  attributes(entry: ListedEntry): void {
    if (entry.mode !== undefined || !this.mayEnter(entry)) return
    if (!lstatEntry(entry, this.absolute(entry.path))) this.#missing(entry)
  }

  /** Gone since its directory was listed; unless its name is not UTF-8, since the kubelet makes no such names. */
  #missing(entry: ListedEntry): void {
    if (mayNotBeUtf8(entry.name)) entry.error = NOT_UTF8
    else this.#gone.add(entry)
  }

  isStateFile(entry: ListedEntry): boolean {
    return entry.type === 'file' && STATE_FILES.has(entry.name) && !this.isMountPoint(entry)
  }

  /** Reads a state file's attributes and content. */
  stateFile(entry: ListedEntry): void {
    readStateFile(entry, this.absolute(entry.path))
    if (entry.error === 'ENOENT') this.#gone.add(entry)
  }
}
