/**
 * A mount table with the kubelet's own paths, if some of the kubelet's directories are links (S8).
 *
 * The kernel shows mount points with links resolved: if ROOT/pods is a link to /data/pods, a mount on ROOT/pods/UID/… is in the
 * table as /data/pods/UID/…. Here it has the path again that the kubelet, its drivers and all steps use. The directory behind
 * a link is shown as if it were bind-mounted on the link's path.
 */

import { undeletedPath } from './deleted.ts'
import type { ChildMounts, MountInfo, MountsBelow, MountTable } from './mount-table.ts'
import { ListedBelow } from './mounts-below.ts'
import { isWithin } from './paths.ts'

/** A directory of the kubelet that is a link, and its target; both absolute, the target with links resolved. */
export interface PlaceLink {
  readonly path: string
  readonly place: string
}

/** The table with the mounts behind links at the links' own paths. @param links none leads into the target of another */
export function withLinks(table: MountTable, links: readonly PlaceLink[]): MountTable {
  return links.length === 0 || table instanceof LinkedMountTable ? table : new LinkedMountTable(table, links)
}

/** The table as the kernel shows it; only this table shows which mount is on which. */
export function withoutLinks(table: MountTable): MountTable {
  return table instanceof LinkedMountTable ? table.raw : table
}

/** The same mount with the kernel's path. */
export function withoutLink(mount: MountInfo): MountInfo {
  return mount instanceof LinkedMount ? mount.raw : mount
}

/** The kernel's path for one of the kubelet's. */
export function placeOf(table: MountTable, path: string): string {
  return table instanceof LinkedMountTable ? moved(path, table.links, 'path', 'place') : path
}

/** The kubelet's path for one of the kernel's. */
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

/** A mount with another path; everything else is as the kernel shows it. */
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

/** The directory behind a link, as a bind mount of it would look: the mount that contains it, with the link's target as root. */
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
  /** By position in the table, so that a mount is always the same object. */
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

  notBelow(directory: string): readonly MountInfo[] {
    const prefix = directory === '/' ? directory : `${directory}/`
    return this.under('/').filter(({ mountPoint }) => !mountPoint.startsWith(prefix))
  }

  below(directory: string): MountsBelow {
    return new ListedBelow(this.under(directory), directory === '/' ? '' : directory)
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

  childrenOf(directory: string): ChildMounts | undefined {
    const raw = this.raw.childrenOf(placeOf(this, directory))
    if (raw === undefined) return undefined
    const prefix = directory === '/' ? '/' : `${directory}/`
    const has = (name: string): boolean => raw.has(name) && !this.#isBehind(`${prefix}${name}`)
    return {
      has,
      get: (name) => {
        const mount = has(name) ? raw.get(name) : undefined
        return mount && this.#ownOf(mount)
      },
    }
  }

  isAbove(directory: string): boolean {
    if (this.raw.isAbove(placeOf(this, directory)) && !this.#isBehind(directory)) return true
    return this.links.some(({ path, place }) => isWithin(path, directory) && this.raw.isAbove(place))
  }

  ofDevice(dev: string): readonly MountInfo[] {
    return this.raw.ofDevice(dev).map((mount) => this.#ownOf(mount))
  }

  ofTypes(isMeant: (fsType: string) => boolean): readonly MountInfo[] {
    return this.raw.ofTypes(isMeant).map((mount) => this.#ownOf(mount))
  }

  byId(id: number): MountInfo | undefined {
    const mount = this.raw.byId(id)
    return mount && this.#ownOf(mount)
  }

  /** What is behind a link is not found by the kernel's path, since it has another path here. */
  #seenBy(path: string, look: (place: string) => readonly MountInfo[]): readonly MountInfo[] {
    if (this.#isBehind(path)) return []
    const place = placeOf(this, path)
    // A mount on the link's target itself is represented by the entry for the link.
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
