/**
 * Links in place of the kubelet's directories (S8): an administrator may have moved `pods`, or a driver's staging
 * directories, to another disk. The kubelet follows such a link without noticing; volctl resolves the link once, and
 * remembers it.
 *
 * A link is only followed if nobody but root could have made it or any part of the way (S33), and nothing on the way can
 * hang. The content behind any other link is unknown, and counts as in use.
 */
import { readlinkSync } from 'node:fs'
import { posix } from 'node:path'
import { cannotHang, containingMount } from '../../linux/location.ts'
import type { MountTable, PlaceLink } from '../../linux/mount-table.ts'
import { isWithin } from '../../linux/paths.ts'
import { closing, errnoOf, errorMessage, isMissing } from '../../messages/findings.ts'
import { listIfAny } from '../../trust/kernel.ts'
import { walkTo } from '../../trust/walk.ts'
import { DRIVER_DIRECTORIES, STRUCTURE } from '../../volumes/on-disk/tree.ts'
import { lookedAt } from './tree-entry.ts'

export type StructureLinks = ReturnType<typeof structureLinks>

/** Searched again with each reading of a mount table, since a link may change at any time. @param rootDir without links */
export function structureLinks(rootDir: string, table: MountTable) {
  /** Links that are followed; paths are absolute. */
  let links: PlaceLink[] = []
  /** Why other links are not followed, by path relative to the root directory. */
  const unknown = new Map<string, string>()
  /** The resolved place of each directory, by relative path; absent: no such directory, or unknown. */
  const places = new Map([['.', rootDir]])
  const identities = new Map<string, string>()
  const typeAt = (place: string): string | undefined => containingMount(table, place)?.fsType
  const isLocal = (place: string): boolean => cannotHang(typeAt(place) ?? '')

  /** If two of the kubelet's paths lead to the same place, neither link is followed. */
  const requireOwn = (place: string, identity: string): void => {
    if (isWithin(rootDir, place)) throw new Error(`the link leads to ${place}, which contains the root directory`)
    const [top = ''] = place.slice(rootDir.length + 1).split('/')
    if (isWithin(place, rootDir) && STRUCTURE.includes(top))
      throw new Error(`the link leads to ${place}, another directory of the kubelet`)
    const other = links.find((link) => isWithin(place, link.place) || isWithin(link.place, place))
    const same = other?.path ?? identities.get(identity)
    if (same === undefined) return
    const relative = same.slice(rootDir.length + 1)
    links = links.filter(({ path }) => !isWithin(path, same))
    for (const known of places.keys()) if (isWithin(known, relative)) places.delete(known)
    unknown.set(relative, `the link leads to ${place}, as that of another directory of the kubelet does`)
    throw new Error(`the link leads to ${place}, as ${same} does`)
  }
  /** Only through file systems that cannot hang, and with a descriptor of each part, which shows who could have changed the way. */
  const resolve = (link: string) => {
    const before = (place: string): void => {
      if (!isLocal(place))
        throw new Error(`the link leads through ${typeAt(place) ?? 'an unknown mount'} at ${place}, which may hang`)
    }
    const { fd, stats } = walkTo(link, { before })
    const place = closing(fd, () => readlinkSync(`/proc/self/fd/${fd}`))
    if (!stats.isDirectory()) throw new Error(`the link leads to ${place}, which is not a directory`)
    return { place, identity: `${stats.dev}:${stats.ino}` }
  }
  const look = (path: string): void => {
    const above = places.get(posix.dirname(path))
    if (above === undefined) return
    const place = `${above}/${posix.basename(path)}`
    // A mount point is not a link; whether it may be entered is decided by its file system.
    if (table.top(place) !== undefined) {
      if (isLocal(place)) places.set(path, place)
      return
    }
    if (!isLocal(above)) return
    // What cannot be read the tree walk reports.
    const stats = lookedAt(place)
    if (stats?.isDirectory()) places.set(path, place)
    if (!stats?.isSymbolicLink()) return
    try {
      const found = resolve(place)
      requireOwn(found.place, found.identity)
      const own = `${rootDir}/${path}`
      links.push({ path: own, place: found.place })
      identities.set(found.identity, own)
      places.set(path, found.place)
    } catch (error) {
      unknown.set(path, errnoOf(error) === undefined ? errorMessage(error) : textOf(error))
    }
  }
  for (const path of STRUCTURE) look(path)
  const drivers = places.get(DRIVER_DIRECTORIES)
  for (const name of drivers === undefined ? [] : listIfAny(drivers)) look(`${DRIVER_DIRECTORIES}/${name}`)
  return { links, unknown }
}

function textOf(error: unknown): string {
  if (isMissing(error)) return 'the link leads to nothing'
  const code = errnoOf(error)
  if (code === 'ELOOP') return 'the link leads in a circle'
  return `the link's target cannot be read: ${code}`
}
