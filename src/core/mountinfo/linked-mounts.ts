/**
 * A mount table as a kubelet reads it whose directories are links to elsewhere (S8).
 *
 * The kernel shows every mount point without links: what a kubelet mounted on ROOT/pods/UID/… stands in the table as
 * /data/pods/UID/… where ROOT/pods leads to /data/pods. Here it has the path again that the kubelet, its drivers and all
 * steps use. A link is to the kernel what a bind mount of the same place is: the directory behind it is found like one's.
 */
import { isWithin } from '../files/path-within.ts'
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
  let nearest: PlaceLink | undefined
  for (const link of links) {
    if ((nearest?.[from].length ?? 0) < link[from].length && isWithin(path, link[from])) nearest = link
  }
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
  /** By position in the table: a mount is the same object whoever asks. */
  readonly #own = new Map<number, MountInfo>()
  readonly #behind: ReadonlyMap<string, MountInfo>

  constructor(raw: MountTable, links: readonly PlaceLink[]) {
    this.raw = raw
    this.links = links
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
    const places = [prefix, ...this.links.filter(({ path }) => isWithin(path, prefix)).map(({ place }) => place)]
    const raw = [placeOf(this, prefix), ...places].flatMap((place) => this.raw.under(place))
    const own = [...new Set(raw)].map((mount) => this.#ownOf(mount))
    const found = own.filter(({ mountPoint }) => isWithin(undeletedPath(mountPoint), prefix))
    return found.toSorted((a, b) => a.index - b.index)
  }

  at(path: string): readonly MountInfo[] {
    const found = this.#seenBy(path, (place) => this.raw.at(place))
    const behind = this.#behind.get(path)
    return behind === undefined ? found : [...found, behind]
  }

  reached(path: string): readonly MountInfo[] {
    const behind = this.#behind.get(path)
    return behind === undefined ? this.#seenBy(path, (place) => this.raw.reached(place)) : [behind]
  }

  top(path: string): MountInfo | undefined {
    return this.reached(path).at(-1)
  }

  childrenOf(directory: string): ((name: string) => MountInfo | undefined) | undefined {
    const names = this.raw.childrenOf(placeOf(this, directory))
    if (names === undefined) return undefined
    const prefix = directory === '/' ? '/' : `${directory}/`
    return (name) => {
      const mount = names(name)
      return mount === undefined || this.#isBehind(`${prefix}${name}`) ? undefined : this.#ownOf(mount)
    }
  }

  isAbove(directory: string): boolean {
    if (this.raw.isAbove(placeOf(this, directory)) && !this.#isBehind(directory)) return true
    return this.links.some(({ path, place }) => isWithin(path, directory) && this.raw.isAbove(place))
  }

  ofDevice(dev: string): readonly MountInfo[] {
    return this.raw.ofDevice(dev).map((mount) => this.#ownOf(mount))
  }

  byId(id: number): MountInfo | undefined {
    const mount = this.raw.byId(id)
    return mount && this.#ownOf(mount)
  }

  /** By the kernel's path, what is behind a link is not found: it has another here. */
  #seenBy(path: string, look: (place: string) => readonly MountInfo[]): readonly MountInfo[] {
    if (this.#isBehind(path)) return []
    const place = placeOf(this, path)
    // What is mounted on the place itself is where the link leads to, and not behind it.
    if (this.#behind.has(path) && place !== path) return []
    return look(place).map((mount) => this.#ownOf(mount))
  }

  #isBehind(place: string): boolean {
    return this.links.some((link) => place !== link.place && isWithin(place, link.place))
  }

  #ownOf(mount: MountInfo): MountInfo {
    const known = this.#own.get(mount.index)
    if (known !== undefined) return known
    const own = this.#isBehind(undeletedPath(mount.mountPoint))
      ? new LinkedMount(mount, moved(mount.mountPoint, this.links, 'place', 'path'))
      : mount
    this.#own.set(mount.index, own)
    return own
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
