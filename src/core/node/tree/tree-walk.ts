import { type Dirent, readdirSync } from 'node:fs'
import { posix } from 'node:path'
import type { TreeEntry } from '../../model/snapshot.ts'
import type { MountPoints } from './mount-points.ts'
import { readStateFile } from './read-small-file.ts'
import { type Draft, errorText, lstatEntry, typeOfDirent } from './tree-entry.ts'

const STATE_FILES = new Set(['vol_data.json', 'iscsi.json'])

/** The entries read so far, and the only ways in which a walk over the kubelet's own directories touches the disk. */
export class TreeWalk {
  readonly rootDir: string
  readonly mountPoints: MountPoints
  readonly #entries: Draft[] = []
  readonly #gone = new Set<Draft>()

  constructor(rootDir: string, mountPoints: MountPoints) {
    this.rootDir = rootDir
    this.mountPoints = mountPoints
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

  /** Every entry of a directory, by name and type; an error is noted on the directory. */
  children(directory: Draft): readonly Draft[] {
    try {
      const dirents = readdirSync(this.absolute(directory.path), { withFileTypes: true })
      return dirents.map((dirent) => this.entryOf(directory.path, dirent))
    } catch (error) {
      const text = errorText(error)
      if (text === 'ENOENT') this.#gone.add(directory)
      else directory.error = text
      return []
    }
  }

  entryOf(parent: string, dirent: Dirent): Draft {
    const path = parent === '' ? dirent.name : `${parent}/${dirent.name}`
    const type = this.mountPoints.has(path) ? this.mountPoints.typeOf(path, dirent) : typeOfDirent(dirent)
    const entry: Draft = { path, type }
    this.emit(entry)
    return entry
  }

  isMountPoint(entry: Draft): boolean {
    return this.mountPoints.has(entry.path)
  }

  mayEnter(entry: Draft): boolean {
    return this.mountPoints.mayEnter(entry.path)
  }

  /** lstat, but for what has its attributes already and for mount points that may not be entered. */
  attributes(entry: Draft): void {
    if (entry.mode !== undefined || !this.mayEnter(entry)) return
    if (!lstatEntry(entry, this.absolute(entry.path))) this.#gone.add(entry)
  }

  isStateFile(entry: Draft): boolean {
    return entry.type === 'file' && STATE_FILES.has(posix.basename(entry.path)) && !this.isMountPoint(entry)
  }

  /** Attributes and content. */
  stateFile(entry: Draft): void {
    readStateFile(entry, this.absolute(entry.path))
    if (entry.error === 'ENOENT') this.#gone.add(entry)
  }
}
