/**
 * A mount table as a kubelet reads it whose directories are links to elsewhere (S8).
 *
 * The kernel shows every mount point without links: what a kubelet mounted on ROOT/pods/UID/… stands in the table as
 * /data/pods/UID/… where ROOT/pods leads to /data/pods. Here it has the path again that the kubelet, its drivers and all
 * steps use. A link is to the kernel what a bind mount of the same place is: the directory behind it is found like one's.
 */
import { isWithin } from '../path-within.ts'
import { undeletedPath } from './deleted.ts'
import type { MountInfo, MountTable } from './mount-table.ts'

/** A directory of the kubelet's that is a link, and where it leads; both absolute, the place without links. */
export interface PlaceLink {
  readonly path: string
  readonly place: string
}

/** The table with what lies behind links under the links' own paths. @param links none of which leads into another's place */
export function withLinks(table: MountTable, links: readonly PlaceLink[]): MountTable {
  return links.length === 0 || table instanceof LinkedMountTable ? table : new LinkedMountTable(table, links)
}

/** As the kernel shows it: what is mounted on what is only told there. */
export function withoutLinks(table: MountTable): MountTable {
  return table instanceof LinkedMountTable ? table.raw : table
}

/** The same mount under the path that the kernel gives it. */
export function withoutLink(mount: MountInfo): MountInfo {
  return mount instanceof LinkedMount ? mount.raw : mount
}

/** Where a path of the kubelet's really lies. */
export function placeOf(table: MountTable, path: string): string {
  return table instanceof LinkedMountTable ? moved(path, table.links, 'path', 'place') : path
}

/** What the kubelet calls a path that the kernel shows. */
export function ownPathOf(table: MountTable, place: string): string {
  return table instanceof LinkedMountTable ? moved(place, table.links, 'place', 'path') : place
}

function moved(path: string, links: readonly PlaceLink[], from: keyof PlaceLink, to: keyof PlaceLink): string {
  const nearest = links
    .filter((link) => isWithin(path, link[from]))
    .reduce<PlaceLink | undefined>(
      (best, link) => ((best?.[from].length ?? 0) < link[from].length ? link : best),
      undefined,
    )
  return nearest === undefined ? path : `${nearest[to]}${path.slice(nearest[from].length)}`
}

/** One mount under another path; everything else is the kernel's word. */
class LinkedMount implements MountInfo {
  readonly raw: MountInfo
  readonly mountPoint: string

  constructor(raw: MountInfo, mountPoint: string) {
    this.raw = raw
    this.mountPoint = mountPoint
  }

  get id(): number {
    return this.raw.id
  }

  get parentId(): number {
    return this.raw.parentId
  }

  get dev(): string {
    return this.raw.dev
  }

  get root(): string {
    return this.raw.root
  }

  get options(): readonly string[] {
    return this.raw.options
  }

  get optionalFields(): readonly string[] {
    return this.raw.optionalFields
  }

  get fsType(): string {
    return this.raw.fsType
  }

  get source(): string {
    return this.raw.source
  }

  get superOptions(): readonly string[] {
    return this.raw.superOptions
  }

  get index(): number {
    return this.raw.index
  }

  toJSON(): MountInfo {
    const { id, parentId, dev, root, mountPoint, options, optionalFields, fsType, source, superOptions, index } = this
    return { id, parentId, dev, root, mountPoint, options, optionalFields, fsType, source, superOptions, index }
  }
}

/** What lies behind a link, as a bind mount of it would look: the mount that has it, from the link's place on. */
class MountBehindLink extends LinkedMount {
  readonly #root: string

  constructor(raw: MountInfo, { path, place }: PlaceLink) {
    super(raw, path)
    const below = place.slice(raw.mountPoint === '/' ? 0 : undeletedPath(raw.mountPoint).length)
    this.#root = `${raw.root === '/' ? '' : raw.root}${below}` || '/'
  }

  override get root(): string {
    return this.#root
  }
}

class LinkedMountTable implements MountTable {
  readonly raw: MountTable
  readonly links: readonly PlaceLink[]
  /** By position in the table. */
  readonly #moved = new Map<number, LinkedMount>()
  readonly #byPath = new Map<string, LinkedMount[]>()
  /** By directory, the newest mount on each name in it. */
  readonly #byDirectory = new Map<string, Map<string, LinkedMount>>()
  readonly #above = new Set<string>()
  readonly #behind: ReadonlyMap<string, MountInfo>

  constructor(raw: MountTable, links: readonly PlaceLink[]) {
    this.raw = raw
    this.links = links
    // A place in another's: the longest is the one that a kubelet's path goes through.
    for (const link of links.toSorted((a, b) => b.place.length - a.place.length)) {
      for (const mount of raw.under(link.place)) this.#move(mount, link)
    }
    this.#behind = new Map(
      links.flatMap((link) => {
        const mount = mountAround(raw, link.place)
        return mount === undefined ? [] : [[link.path, new MountBehindLink(mount, link)] as const]
      }),
    )
  }

  get text(): string {
    return this.raw.text
  }

  get size(): number {
    return this.raw.size
  }

  under(prefix: string): readonly MountInfo[] {
    const kept = this.raw.under(prefix).filter(({ index }) => !this.#moved.has(index))
    const come = [...this.#moved.values()].filter(({ mountPoint }) => isWithin(undeletedPath(mountPoint), prefix))
    return come.length === 0 ? kept : [...kept, ...come].toSorted((a, b) => a.index - b.index)
  }

  at(path: string): readonly MountInfo[] {
    const kept = this.raw.at(path).filter(({ index }) => !this.#moved.has(index))
    const come = this.#byPath.get(path) ?? []
    const behind = this.#behind.get(path)
    return [...[...kept, ...come].toSorted((a, b) => a.index - b.index), ...(behind === undefined ? [] : [behind])]
  }

  reached(path: string): readonly MountInfo[] {
    const behind = this.#behind.get(path)
    if (behind !== undefined) return [behind]
    const found = this.raw.reached(placeOf(this, path))
    return found.flatMap((mount) => {
      const own = this.#moved.get(mount.index) ?? mount
      return undeletedPath(own.mountPoint) === undeletedPath(path) || own.mountPoint === path ? [own] : []
    })
  }

  top(path: string): MountInfo | undefined {
    return this.reached(path).at(-1)
  }

  childrenOf(directory: string): ((name: string) => MountInfo | undefined) | undefined {
    const raw = this.raw.childrenOf(directory)
    const come = this.#byDirectory.get(directory === '/' ? '' : directory)
    if (come === undefined && raw === undefined) return undefined
    return (name) => {
      const kept = raw?.(name)
      return come?.get(name) ?? (kept !== undefined && this.#moved.has(kept.index) ? undefined : kept)
    }
  }

  isAbove(directory: string): boolean {
    return this.#above.has(directory) || this.raw.isAbove(directory)
  }

  ofDevice(dev: string): readonly MountInfo[] {
    return this.raw.ofDevice(dev).map((mount) => this.#moved.get(mount.index) ?? mount)
  }

  byId(id: number): MountInfo | undefined {
    const mount = this.raw.byId(id)
    return mount && (this.#moved.get(mount.index) ?? mount)
  }

  /** What is mounted on the place itself stays: the link leads to it, and is no part of it. */
  #move(mount: MountInfo, { path, place }: PlaceLink): void {
    const plain = undeletedPath(mount.mountPoint)
    if (plain === place || this.#moved.has(mount.index)) return
    const own = `${path}${mount.mountPoint.slice(place.length)}`
    const linked = new LinkedMount(mount, own)
    this.#moved.set(mount.index, linked)
    // A mount point that ends in " (deleted)" is found without it as well, as in the table itself (P115).
    for (const each of new Set([own, undeletedPath(own)])) {
      const stack = this.#byPath.get(each)
      if (stack === undefined) this.#byPath.set(each, [linked])
      else stack.push(linked)
      const slash = each.lastIndexOf('/')
      const directory = each.slice(0, slash)
      const names = this.#byDirectory.get(directory) ?? new Map<string, LinkedMount>()
      this.#byDirectory.set(directory, names.set(each.slice(slash + 1), linked))
      for (let at = directory; at !== '' && !this.#above.has(at); at = at.slice(0, at.lastIndexOf('/')))
        this.#above.add(at)
    }
  }
}

/** The newest mount on a path, or on the nearest directory above that has one. */
export function mountAround(table: MountTable, path: string): MountInfo | undefined {
  for (let at = path; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
    const top = table.top(at)
    if (top !== undefined) return top
  }
  return table.top('/')
}
