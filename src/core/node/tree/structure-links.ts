/**
 * Links in the kubelet's structure (S8): an administrator has put `pods`, or the staging directories of a driver, on another
 * disk, and a link in their place. The kubelet goes through it and does not notice; so does volctl, once and knowingly.
 *
 * A link is gone through only where nobody but root could have made it or any part of the way (S33), and where nothing on
 * the way may hang. Of all others what is behind stays unknown, and counts as in use.
 */
import { closeSync, lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs'
import { posix } from 'node:path'
import { errnoOf, errorMessage } from '../../errors/errors.ts'
import { isWithin } from '../../files/path-within.ts'
import { cannotHang } from '../../mountinfo/file-systems.ts'
import { mountAround, type PlaceLink } from '../../mountinfo/linked-mounts.ts'
import type { MountTable } from '../../mountinfo/mount-table.ts'
import { DRIVER_DIRECTORIES, STRUCTURE } from '../../names/structure.ts'
import { walkTo } from '../../trust/walk.ts'

/** As many as the kernel follows. */
const MAX_LINKS = 40

export interface StructureLinks {
  /** Those that are gone through; paths are absolute. */
  readonly links: readonly PlaceLink[]
  /** Why another is not, by its path relative to the root directory. */
  readonly unknown: ReadonlyMap<string, string>
}

/** What to look at anew in each reading of a mount table: a link may be changed at any time. @param rootDir without links */
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
  /** Where each directory lies, by its relative path; none where there is none, or nobody can tell. */
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
    // What is mounted there is no link; whether it may be entered is asked where it is.
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
      // Whoever lists it says so.
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
      this.unknown.set(path, errnoOf(error) === undefined ? errorMessage(error) : inWords(error))
    }
  }

  /** A place that has two of the kubelet's paths is no directory of either's own: neither link is gone through. */
  #requireOwn(place: string, identity: string): void {
    if (isWithin(this.#rootDir, place)) throw new Error(`leads to ${place}, in which the root directory lies`)
    const [top = ''] = place.slice(this.#rootDir.length + 1).split('/')
    if (isWithin(place, this.#rootDir) && STRUCTURE.includes(top))
      throw new Error(`leads to ${place}, which has another path of its own`)
    const other = this.links.find((link) => isWithin(place, link.place) || isWithin(link.place, place))
    const same = other?.path ?? this.#identities.get(identity)
    if (same === undefined) return
    this.#takeBack(same, `leads to where another directory of the kubelet should be: ${place}`)
    throw new Error(`leads to ${place}, as ${same} does`)
  }

  /** @param path absolute */
  #takeBack(path: string, why: string): void {
    const relative = path.slice(this.#rootDir.length + 1)
    this.links = this.links.filter((link) => !isWithin(link.path, path))
    for (const known of this.#places.keys()) if (isWithin(known, relative)) this.#places.delete(known)
    this.unknown.set(relative, why)
  }

  /**
   * First by the names alone, and only where nothing can hang; then once more with a descriptor of each part, as the kernel
   * goes, and whoever could have changed the way is found.
   */
  #resolve(link: string): { place: string; identity: string } {
    const place = this.#byNames(link)
    const { fd, stats, doubt } = walkTo(link)
    try {
      if (doubt !== undefined) throw new Error(doubt)
      if (!stats.isDirectory()) throw new Error(`leads to ${place}, which is not a directory`)
      const found = readlinkSync(`/proc/self/fd/${fd}`)
      if (found !== place) throw new Error(`leads to ${place} and to ${found}: the link is being changed`)
      return { place, identity: `${stats.dev}:${stats.ino}` }
    } finally {
      closeSync(fd)
    }
  }

  #byNames(link: string): string {
    const queue = namesOf(link)
    let links = 0
    let at = '/'
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      if (name === '..') {
        at = posix.dirname(at)
        continue
      }
      this.#requireLocal(at)
      const next = posix.join(at, name)
      const target = this.#table.top(next) !== undefined ? undefined : targetOf(next)
      if (target === undefined) {
        at = next
        continue
      }
      if (++links > MAX_LINKS) throw new Error('leads in a circle')
      if (target.startsWith('/')) at = '/'
      queue.unshift(...namesOf(target))
    }
    this.#requireLocal(at)
    return at
  }

  #requireLocal(place: string): void {
    if (!this.#isLocal(place))
      throw new Error(
        `leads through ${mountAround(this.#table, place)?.fsType ?? 'what'} at ${place}, which may not answer`,
      )
  }

  #isLocal(place: string): boolean {
    return cannotHang(mountAround(this.#table, place)?.fsType ?? '')
  }
}

/** Undefined: there is nothing, or whoever lists the directory says what is wrong with it. */
function lookedAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** Undefined: it is no link. @throws ENOENT where it leads to nothing */
function targetOf(path: string): string | undefined {
  return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.')
}

function inWords(error: unknown): string {
  const code = errnoOf(error)
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'leads to nothing'
  if (code === 'ELOOP') return 'leads in a circle'
  return code === 'DOUBTFUL' ? errorMessage(error) : `its target cannot be read: ${code}`
}
