/**
 * Links in place of the kubelet's directories (S8): an administrator may have moved `pods`, or a driver's staging
 * directories, to another disk. The kubelet follows such a link without noticing; volctl resolves the link once, and
 * remembers it.
 *
 * A link is only followed if nobody but root could have made it or any part of the way (S33), and nothing on the way can
 * hang. The content behind any other link is unknown, and counts as in use.
 */
import { closeSync, lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs'
import { posix } from 'node:path'
import { errnoOf, errorMessage } from '../../base/errors.ts'
import { DRIVER_DIRECTORIES, STRUCTURE } from '../../facts/actual/structure.ts'
import { cannotHang } from '../../linux/file-systems.ts'
import { containingMount } from '../../linux/location.ts'
import type { MountTable, PlaceLink } from '../../linux/mount-table.ts'
import { isWithin } from '../../linux/paths.ts'
import { walkTo } from '../../trust/walk.ts'

export interface StructureLinks {
  /** Links that are followed; paths are absolute. */
  readonly links: readonly PlaceLink[]
  /** Why other links are not followed, by path relative to the root directory. */
  readonly unknown: ReadonlyMap<string, string>
}

/** Searched again with each reading of a mount table, since a link may change at any time. @param rootDir without links */
export function structureLinks(rootDir: string, table: MountTable): StructureLinks {
  const search = new Search(rootDir, table)
  for (const path of STRUCTURE) search.look(path)
  for (const name of search.linksIn(DRIVER_DIRECTORIES)) search.look(`${DRIVER_DIRECTORIES}/${name}`)
  return search
}

class Search implements StructureLinks {
  links: PlaceLink[] = []
  readonly unknown = new Map<string, string>()
  readonly #rootDir: string
  readonly #table: MountTable
  /** The resolved place of each directory, by relative path; absent: no such directory, or unknown. */
  readonly #places = new Map<string, string>()
  readonly #identities = new Map<string, string>()

  constructor(rootDir: string, table: MountTable) {
    this.#rootDir = rootDir
    this.#table = table
    this.#places.set('.', rootDir)
  }

  look(path: string): void {
    const above = this.#places.get(posix.dirname(path))
    if (above === undefined) return
    const place = `${above}/${posix.basename(path)}`
    // A mount point is not a link; whether it may be entered is decided by its file system.
    if (this.#table.top(place) !== undefined) {
      if (this.#isLocal(place)) this.#places.set(path, place)
      return
    }
    if (!this.#isLocal(above)) return
    const stats = lookedAt(place)
    if (stats?.isDirectory()) this.#places.set(path, place)
    else if (stats?.isSymbolicLink()) this.#follow(path, place)
  }

  linksIn(path: string): string[] {
    const place = this.#places.get(path)
    if (place === undefined) return []
    try {
      return readdirSync(place, { withFileTypes: true }).flatMap((entry) =>
        entry.isSymbolicLink() ? [entry.name] : [],
      )
    } catch {
      // The tree walk reports the error.
      return []
    }
  }

  #follow(path: string, link: string): void {
    try {
      const { place, identity } = this.#resolve(link)
      this.#requireOwn(place, identity)
      this.links.push({ path: `${this.#rootDir}/${path}`, place })
      this.#identities.set(identity, `${this.#rootDir}/${path}`)
      this.#places.set(path, place)
    } catch (error) {
      this.unknown.set(path, errnoOf(error) === undefined ? errorMessage(error) : textOf(error))
    }
  }

  /** If two of the kubelet's paths lead to the same place, neither link is followed. */
  #requireOwn(place: string, identity: string): void {
    if (isWithin(this.#rootDir, place)) throw new Error(`the link leads to ${place}, which contains the root directory`)
    const [top = ''] = place.slice(this.#rootDir.length + 1).split('/')
    if (isWithin(place, this.#rootDir) && STRUCTURE.includes(top))
      throw new Error(`the link leads to ${place}, another directory of the kubelet`)
    const other = this.links.find((link) => isWithin(place, link.place) || isWithin(link.place, place))
    const same = other?.path ?? this.#identities.get(identity)
    if (same === undefined) return
    this.#takeBack(same, `the link leads to ${place}, as that of another directory of the kubelet does`)
    throw new Error(`the link leads to ${place}, as ${same} does`)
  }

  /** @param path absolute */
  #takeBack(path: string, why: string): void {
    const relative = path.slice(this.#rootDir.length + 1)
    this.links = this.links.filter((link) => !isWithin(link.path, path))
    for (const known of this.#places.keys()) if (isWithin(known, relative)) this.#places.delete(known)
    this.unknown.set(relative, why)
  }

  /** Only through file systems that cannot hang, and with a descriptor of each part, which shows who could have changed the way. */
  #resolve(link: string): { place: string; identity: string } {
    const { fd, stats, doubt } = walkTo(link, { before: (path) => this.#requireLocal(path) })
    try {
      const place = readlinkSync(`/proc/self/fd/${fd}`)
      if (doubt !== undefined) throw new Error(doubt)
      if (!stats.isDirectory()) throw new Error(`the link leads to ${place}, which is not a directory`)
      return { place, identity: `${stats.dev}:${stats.ino}` }
    } finally {
      closeSync(fd)
    }
  }

  #requireLocal(place: string): void {
    if (!this.#isLocal(place))
      throw new Error(
        `the link leads through ${containingMount(this.#table, place)?.fsType ?? 'an unknown mount'} at ${place}, which may hang`,
      )
  }

  #isLocal(place: string): boolean {
    return cannotHang(containingMount(this.#table, place)?.fsType ?? '')
  }
}

/** Undefined: the path is missing, or cannot be read, which the tree walk reports. */
function lookedAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

function textOf(error: unknown): string {
  const code = errnoOf(error)
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'the link leads to nothing'
  if (code === 'ELOOP') return 'the link leads in a circle'
  return `the link's target cannot be read: ${code}`
}
