import { compareText } from '../lang/compare-text.ts'
import type { TreeEntry } from '../model/snapshot.ts'
import { mayBeLink } from '../names/structure.ts'

/** The kubelet's directories, indexed by directory, relative to the root directory. Built once, never changed. */
export class Tree {
  readonly #dirs = new Map<string, Directory>()
  readonly #root: TreeEntry | undefined

  constructor(entries: readonly TreeEntry[]) {
    this.#root = entries.find((entry) => entry.path === '.')
    // Entries of one directory usually come together: then neither the parent's path nor its map entry is looked up again.
    let parent = ''
    let current: Directory | undefined
    for (const given of entries) {
      const entry = followed(given)
      const { path } = entry
      if (path === '.') continue
      if (current === undefined || !isChild(path, parent)) {
        parent = parentOf(path)
        current = this.#dirs.get(parent)
        if (current === undefined) {
          current = new Directory()
          this.#dirs.set(parent, current)
        }
      }
      current.add(entry)
    }
  }

  get(path: string): TreeEntry | undefined {
    return path === '.' ? this.#root : this.#dirs.get(parentOf(path))?.get(path)
  }

  has(path: string): boolean {
    return this.get(path) !== undefined
  }

  isDir(path: string): boolean {
    return this.get(path)?.type === 'dir'
  }

  /** Direct children, sorted by path so that every plan is deterministic. */
  children(path: string): readonly TreeEntry[] {
    return this.#dirs.get(path)?.sorted() ?? []
  }

  /** Names of the direct children that are directories. */
  childDirs(path: string): string[] {
    return this.children(path)
      .filter((entry) => entry.type === 'dir')
      .map((entry) => baseName(entry.path))
  }

  /** All entries below `path`, parents before children, without `path` itself. */
  descendants(path: string): TreeEntry[] {
    const found: TreeEntry[] = []
    this.#collect(path, found)
    return found
  }

  #collect(path: string, into: TreeEntry[]): void {
    for (const child of this.children(path)) {
      into.push(child)
      if (child.type === 'dir') this.#collect(child.path, into)
    }
  }
}

/** For the kubelet, a link that it follows is the directory behind the link (S8). */
function followed(entry: TreeEntry): TreeEntry {
  return entry.realPath !== undefined && entry.type === 'link' && mayBeLink(entry.path)
    ? { ...entry, type: 'dir' }
    : entry
}

/** Entries of one directory; sorted and indexed at the first use. */
class Directory {
  readonly #entries: TreeEntry[] = []
  #sorted = true
  #byPath: Map<string, TreeEntry> | undefined

  add(entry: TreeEntry): void {
    const last = this.#entries.at(-1)
    if (last !== undefined && last.path > entry.path) this.#sorted = false
    this.#entries.push(entry)
  }

  get(path: string): TreeEntry | undefined {
    this.#byPath ??= new Map(this.#entries.map((entry) => [entry.path, entry]))
    return this.#byPath.get(path)
  }

  sorted(): readonly TreeEntry[] {
    if (!this.#sorted) {
      this.#entries.sort((a, b) => compareText(a.path, b.path))
      this.#sorted = true
    }
    return this.#entries
  }
}

function isChild(path: string, parent: string): boolean {
  if (parent === '.') return !path.includes('/')
  return (
    path.charCodeAt(parent.length) === SLASH && path.startsWith(parent) && path.indexOf('/', parent.length + 1) === -1
  )
}

const SLASH = 0x2f

export function parentOf(path: string): string {
  const slash = path.lastIndexOf('/')
  return slash === -1 ? '.' : path.slice(0, slash)
}

/** Is `path` one of these directories, or below one of them? */
export function isWithinAny(path: string, directories: ReadonlySet<string>): boolean {
  if (directories.size === 0) return false
  for (let at = path; ; at = at.slice(0, at.lastIndexOf('/'))) {
    if (directories.has(at)) return true
    if (!at.includes('/')) return false
  }
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
