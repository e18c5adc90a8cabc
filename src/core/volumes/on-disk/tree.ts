/** The kubelet's directories as they were listed, and which directories a kubelet makes. */
import { once } from '../../base/collections.ts'
import { compareText, present } from '../../base/text.ts'
import type { FileType, TreeEntry } from '../snapshot.ts'
import { CSI_PLUGIN, readStateFile, type StateFile } from '../volume-names.ts'

/**
 * What is mounted on an entry: something that may be entered, or something that may not. What a container may write to is closed as
 * well.
 */
type OnTop = 'open' | 'closed' | undefined

/**
 * An entry as the listing of its directory gives it. It knows its name and its directory: nobody cuts its path up
 * again, and what is mounted on it. None of the three is part of a snapshot: they are neither written nor copied.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: its fields are an entry's, and are filled in as they are read.
export class ListedEntry {
  readonly #directory: string
  readonly #name: string
  readonly #onTop: OnTop

  /** @param directory relative to the root directory, which is "." */
  constructor(directory: string, name: string, type: FileType, onTop?: OnTop) {
    this.path = directory === '.' ? name : `${directory}/${name}`
    this.type = type
    this.#directory = directory
    this.#name = name
    this.#onTop = onTop
  }

  // V8 gives all objects of a class the room that the first few have needed. Those would be the entries of the root directory,
  // which have attributes: room for eight, that nearly all others have not, 6 MB for 99,000 mounts.
  static {
    for (let made = 0; made < 8; made++) new ListedEntry('', '', 'file')
  }

  get directory(): string {
    return this.#directory
  }

  get name(): string {
    return this.#name
  }

  get onTop(): OnTop {
    return this.#onTop
  }
}

export interface ListedEntry extends Writable<TreeEntry> {}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }

/** The kubelet's directories, indexed by directory, relative to the root directory. Built once, never changed. */
export class Tree {
  readonly #dirs = new Map<string, Directory>()
  #root: TreeEntry | undefined

  constructor(entries: readonly TreeEntry[]) {
    for (const entry of entries) {
      if (entry.path === '.') this.#root ??= entry
      else once(this.#dirs, directoryOf(entry), () => new Directory()).add(followed(entry))
    }
  }

  get(path: string): TreeEntry | undefined {
    return path === '.' ? this.#root : this.#dirs.get(parentOf(path))?.get(baseName(path))
  }

  has(path: string): boolean {
    return this.get(path) !== undefined
  }

  /** What is there as a vol_data.json. */
  stateFile(path: string): StateFile | undefined {
    const entry = this.get(path)
    return entry && readStateFile(entry)
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
      .map(nameOf)
  }

  /** Paths of what lies two levels below. */
  grandchildren(path: string): string[] {
    return this.directoriesBelow(path, 1).flatMap((directory) => this.children(directory).map((entry) => entry.path))
  }

  /** Paths of the directories so many levels below `path`. */
  directoriesBelow(path: string, depth: number): string[] {
    const below = this.childDirs(path).map((name) => `${path}/${name}`)
    return depth === 1 ? below : below.flatMap((each) => this.directoriesBelow(each, depth - 1))
  }

  /** All entries below `path`, parents before children, without `path` itself. */
  descendants(path: string, found: TreeEntry[] = []): TreeEntry[] {
    let last: string | undefined
    for (const child of this.children(path)) {
      found.push(child)
      // Names that are not UTF-8 may be one text: the entries of all these directories are listed once, together.
      if (child.type !== 'dir' || child.path === last) continue
      last = child.path
      this.descendants(child.path, found)
    }
    return found
  }
}

/** For the kubelet, a link that it follows is the directory behind the link (S8). */
function followed(entry: TreeEntry): TreeEntry {
  return entry.realPath !== undefined && entry.type === 'link' && mayBeLink(entry.path)
    ? { ...entry, type: 'dir' }
    : entry
}

/** So few are looked through: an index for each directory of a node would take more memory than its entries. */
const FEW = 8

/** Entries of one directory; sorted and indexed at the first use. */
class Directory {
  readonly #entries: TreeEntry[] = []
  #sorted = false
  #byName: Map<string, TreeEntry> | undefined

  add(entry: TreeEntry): void {
    this.#entries.push(entry)
  }

  get(name: string): TreeEntry | undefined {
    if (this.#entries.length <= FEW) return this.#entries.findLast((entry) => nameOf(entry) === name)
    this.#byName ??= new Map(this.#entries.map((entry) => [nameOf(entry), entry]))
    return this.#byName.get(name)
  }

  sorted(): readonly TreeEntry[] {
    if (!this.#sorted) {
      this.#entries.sort((a, b) => compareText(nameOf(a), nameOf(b)))
      this.#sorted = true
    }
    return this.#entries
  }
}

/** The last part of an entry's path. */
export function nameOf(entry: TreeEntry): string {
  return entry instanceof ListedEntry ? entry.name : baseName(entry.path)
}

function directoryOf(entry: TreeEntry): string {
  return entry instanceof ListedEntry ? entry.directory : parentOf(entry.path)
}

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

// Names that are not UTF-8: bytes on the disk, while a path of a snapshot, a plan or a step is text, which leads nowhere then.

/** The error of such an entry: what it contains is unknown. */
export const NOT_UTF8 = 'EILSEQ'

/** May the text stand for bytes that are not UTF-8? (Any such byte becomes U+FFFD.) */
export function mayNotBeUtf8(text: string): boolean {
  return text.includes('\uFFFD')
}

// Directories that a kubelet makes, by path relative to the root directory.

/** Created once and never removed; parents first. */
export const STRUCTURE: readonly string[] = [
  'pods',
  'plugins_registry',
  'plugins',
  'plugins/kubernetes.io',
  `plugins/${CSI_PLUGIN}`,
]

/** Has a directory for each driver, `pv` (the layout before 1.24), and `volumeDevices`, which are never removed either. */
export const DRIVER_DIRECTORIES = `plugins/${CSI_PLUGIN}`

/**
 * True if a link may be in this directory's place and is followed, as the kubelet does. Only directories that volctl never
 * removes.
 */
export function mayBeLink(path: string): boolean {
  return STRUCTURE.includes(path) || parentOf(path) === DRIVER_DIRECTORIES
}

/** Matches paths of these forms, relative to the root directory. `*`: any text within a name; HASH: the hash of a volume handle. */
export function pathForms(...forms: readonly string[]): RegExp {
  return new RegExp(`^(?:${textOf(forms)})$`)
}

/** Gives what stands for each `*` and HASH in the first part of a path that has one of these forms; nothing: none has. */
export function formsWithin(...forms: readonly string[]): (path: string) => string[] {
  const part = new RegExp(`/(?:${textOf(forms)})(?=/|$)`)
  return (path) => present(...(part.exec(path) ?? []).slice(1))
}

function textOf(forms: readonly string[]): string {
  return forms.join('|').replaceAll('.', '\\.').replaceAll('*', '([^/]+)').replaceAll('HASH', '([0-9a-f]{64})')
}

/**
 * Directories that may contain a volume, with those above them: if one is a link that is not followed, anything may be behind it. Without
 * those where drivers and older kubelets put other links (a target, a device's map).
 */
const EXPECTED = pathForms(
  ...[
    'plugins/kubernetes.io*',
    'plugins/kubernetes.io~*/volumeDevices/*',
    'plugins/kubernetes.io/csi/pv/*/globalmount',
    'plugins/kubernetes.io/csi/*/HASH/globalmount',
    'plugins/kubernetes.io/csi/volumeDevices/*/dev',
    'plugins/kubernetes.io/csi/volumeDevices/*/data',
    'plugins/kubernetes.io/csi/volumeDevices/staging/*',
    'plugins/kubernetes.io/csi/volumeDevices/publish/*',
    'pods/*/volumes/*/*',
    'pods/*/volumeDevices/*',
    'pods/*/volume-subpaths/*/*',
  ].flatMap((form) => form.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'))),
)

/** True if a kubelet expects a real directory at this path. */
export function isExpectedDirectory(path: string): boolean {
  return mayBeLink(path) || EXPECTED.test(path)
}
