/** The place of a path: its file system, and the path inside it. The same in every mount namespace. */
import { posix } from 'node:path'
import { isWithin } from '../files/path-within.ts'
import { ownPathOf } from './linked-mounts.ts'
import type { MountInfo, MountTable } from './mount-table.ts'

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
    const top = table.top(at)
    if (top !== undefined) return top
    if (at === '/' || at === '.') return undefined
  }
}

export function locate(table: MountTable, path: string): Location | undefined {
  const mount = containingMount(table, path)
  return mount === undefined ? undefined : locationIn(mount, ownPathOf(table, path))
}

export function locationIn(mount: MountInfo, path: string): Location {
  return { dev: mount.dev, path: posix.join(mount.root, posix.relative(mount.mountPoint, path)) }
}

/** The path at which a mount of the same file system shows the location; undefined: it does not. */
export function pathThrough(mount: MountInfo, location: Location): string | undefined {
  if (!isWithin(location.path, mount.root)) return undefined
  return posix.join(mount.mountPoint, posix.relative(mount.root, location.path))
}
