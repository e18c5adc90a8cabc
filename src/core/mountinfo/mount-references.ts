import { posix } from 'node:path'
import { VolctlError } from '../errors/errors.ts'
import { isWithin } from '../files/path-within.ts'
import { undeletedPath } from './deleted.ts'
import { containingMount } from './location.ts'
import type { MountInfo, MountTable } from './mount-table.ts'

const PLUGIN_TREE = '/plugins/kubernetes.io/'

/**
 * Every *other* mount that shows the same directory of the same file system as `path` (R031, P132): bind mounts of it, or other
 * mounts of the same root. `path` need not be a mount point; its links must be resolved already.
 *
 * The newest mount on or above the path counts. A mount of a subdirectory is no reference; stacked mounts on the same path are.
 *
 * @throws VolctlError NodeUnreadable, so that "no references" never means "could not look"
 */
export function mountReferences(table: MountTable, path: string): readonly MountInfo[] {
  const directory = withoutTrailingSlash(posix.normalize(path))
  const mount = containingMount(table, directory)
  if (mount === undefined) {
    throw new VolctlError('NodeUnreadable', `the mount table has no mount that contains ${path}`)
  }
  const root = withoutTrailingSlash(posix.join(mount.root, directory.slice(lengthOf(mount, directory))))
  return table.ofDevice(mount.dev).filter((other) => other.index !== mount.index && other.root === root)
}

/**
 * True if any reference is outside the plugin's own directory (R032, P18). A reference is inside if its path contains the
 * global mount's path from `/plugins/kubernetes.io/` on. A pod's bind mount is outside, and holds the device open; a copy of
 * the same global mount under another prefix is inside, and does not.
 */
export function hasForeignReferences(path: string, references: readonly MountInfo[]): boolean {
  const from = path.indexOf(PLUGIN_TREE)
  const own = from === -1 ? path : path.slice(from)
  return references.some((reference) => !reference.mountPoint.includes(own))
}

/** Length of the mount point's part of `path`; the mount point's text may end in " (deleted)" (P115). */
function lengthOf(mount: MountInfo, path: string): number {
  if (mount.mountPoint === '/') return 0
  return isWithin(path, mount.mountPoint) ? mount.mountPoint.length : undeletedPath(mount.mountPoint).length
}

function withoutTrailingSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}
