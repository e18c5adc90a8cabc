/** Where a path in some mount namespace leads, by readlink alone, and never through a file system that may hang. */
import { lstatSync, readlinkSync, type Stats } from 'node:fs'
import { posix } from 'node:path'
import { cannotHang } from '../mountinfo/file-systems.ts'
import { containingMount, type Location, locate } from '../mountinfo/location.ts'
import type { MountTable } from '../mountinfo/mount-table.ts'
import type { OtherNamespace } from '../processes/mount-namespaces.ts'

/** A mount namespace, and a path that leads to its root from here. */
export interface View {
  readonly table: MountTable
  /** "" for our own, "/proc/PID/root" of a process for another. */
  readonly root: string
}

/** @returns our own first */
export function viewsOf(table: MountTable, others: readonly OtherNamespace[]): [View, ...View[]] {
  return [{ table, root: '' }, ...others.map((other) => ({ table: other.table, root: `/proc/${other.pid}/root` }))]
}

/** As the kernel (MAXSYMLINKS). */
const MOST_LINKS = 40

/**
 * @param path absolute
 * @param ofProc whether links in /proc are followed, too, which lead each process elsewhere
 * @returns the path with its links resolved; behind a missing name, or in a file system that may hang, it is left unresolved
 */
export function followLinks({ table, root }: View, path: string, ofProc = true): string {
  let real = '/'
  let links = 0
  const rest = path.split('/')
  while (rest.length > 0) {
    const name = rest.shift() ?? ''
    if (name === '' || name === '.') continue
    const at = posix.join(real, name)
    if (name === '..' || !isLocal(table, at) || !(ofProc || containingMount(table, at)?.fsType !== 'proc')) {
      real = at
      continue
    }
    const target = linkAt(root + at)
    if (target === undefined) {
      real = at
      continue
    }
    if (++links > MOST_LINKS) return posix.join(at, ...rest)
    if (target.startsWith('/')) real = '/'
    rest.unshift(...target.split('/'))
  }
  return real
}

/** What is there; undefined: nothing is there, or asking could hang. */
export function fileAt({ table, root }: View, path: string): Stats | undefined {
  try {
    return isLocal(table, path) ? lstatSync(root + path) : undefined
  } catch {
    return undefined
  }
}

/** Where a path leads, with links followed and without. */
export function placesAt(view: View, path: string, real = followLinks(view, path)): Location[] {
  return [...new Set([path, real])].flatMap((each) => locate(view.table, each) ?? [])
}

/** True if the path is on a file system that cannot hang, and every mount on the way is, too. */
export function isLocal(table: MountTable, path: string): boolean {
  for (let at = path; ; ) {
    const mount = containingMount(table, at)
    if (mount === undefined || !cannotHang(mount.fsType)) return false
    if (mount.mountPoint === '/') return true
    at = posix.dirname(mount.mountPoint)
  }
}

/** The link's target; undefined: it is not a link, or not there. */
function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}
