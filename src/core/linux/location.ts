/** The place of a path: its file system, and the path inside it. The same in every mount namespace. */
import { posix } from 'node:path'
import { memoize, once } from '../base/memoize.ts'
import { PathIndex } from '../base/path-index.ts'
import { undeletedRoot } from './deleted.ts'
import { type MountInfo, type MountTable, ownPathOf, type Shown } from './mount-table.ts'
import { isWithin, plainPath } from './paths.ts'

export interface Location {
  /** "major:minor" */
  readonly dev: string
  /** From the root of the file system. */
  readonly path: string
}

/**
 * The mount that contains a path: the visible one on it, or on its nearest parent with a mount.
 *
 * @param path the kubelet's, or the kernel's (with links resolved, S8)
 */
export function containingMount(table: MountTable, path: string): MountInfo | undefined {
  for (let at = ownPathOf(table, path); ; at = posix.dirname(at)) {
    const mount = table.top(at)
    if (mount !== undefined || at === '/' || at === '.') return mount
  }
}

export function locate(table: MountTable, path: string): Location | undefined {
  const mount = containingMount(table, path)
  return mount === undefined ? undefined : locationIn(mount, ownPathOf(table, path))
}

/** A name in its directory, whatever is mounted on the path itself. */
export function locateName(table: MountTable, path: string): Location | undefined {
  const directory = locate(table, posix.dirname(path))
  return directory && { dev: directory.dev, path: posix.join(directory.path, posix.basename(path)) }
}

export function locationIn(mount: MountInfo, path: string): Location {
  const { dev, root, mountPoint } = mount
  return { dev, path: rebased(path, mountPoint, root) }
}

/** The path below another directory. As posix.relative and posix.join, which look at each character of both paths. */
function rebased(path: string, from: string, to: string): string {
  if (!isPlain(path) || !isPlain(from) || !isPlain(to) || !isWithin(path, from))
    return posix.join(to, posix.relative(from, path))
  const below = from === '/' ? path : path.slice(from.length)
  return to === '/' ? below || '/' : `${to}${below === '/' ? '' : below}`
}

function isPlain(path: string): boolean {
  return plainPath(path) === path
}

/** The path at which a mount of the same file system shows the location; undefined: it does not. */
export function pathThrough(mount: MountInfo, location: Location): string | undefined {
  if (!isWithin(location.path, mount.root)) return undefined
  return rebased(location.path, mount.root, mount.mountPoint)
}

// Mounts of one file system: thousands of volumes may share it.

/** The directory that a mount shows. */
export function shownBy({ dev, root }: Shown): Location {
  return { dev, path: posix.normalize(undeletedRoot(root) || '/') }
}

const byRoot = memoize((_: MountTable) => new Map<string, PathIndex<MountInfo>>())

/** Mounts of the directory or of something in it. @param top mounts of a parent directory count too, up to this one */
export function showing(table: MountTable, { dev, path }: Location, top = path): MountInfo[] {
  const index = once(
    byRoot(table),
    dev,
    () => new PathIndex(table.ofDevice(dev).map((mount) => [shownBy(mount).path, mount])),
  )
  return index.within(path).concat(index.above(path, top))
}

/** Every mount that shows the same directory or a part of it, the mount itself included (R031, P132), in table order. */
export function alsoShowing(table: MountTable, mount: MountInfo): readonly MountInfo[] {
  return showing(table, shownBy(mount)).sort((a, b) => a.index - b.index)
}
