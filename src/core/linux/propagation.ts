/**
 * Which mounts go away when one is unmounted: the kernel repeats the umount in every peer and slave of the *parent* mount, at the
 * same place (mount_namespaces(7)). The peer group of the mount itself does not matter: every bind mount of a shared mount is
 * in it, whoever made it, and stays mounted.
 */
import { posix } from 'node:path'
import { memoize, once } from '../base/collections.ts'
import { isSameMount, type MountInfo, type MountTable } from './mount-table.ts'
import { undeletedPath } from './paths.ts'

/**
 * True if `copy` goes away when `mount` is unmounted. @param copyTable the table of another mount namespace, if the copy is
 * in one
 */
export function goesWith(table: MountTable, mount: MountInfo, copy: MountInfo, copyTable: MountTable = table): boolean {
  if (!isSameMount(copy, mount)) return false
  const parent = parentOf(table, mount)
  const copyParent = parentOf(copyTable, copy)
  if (parent === undefined || copyParent === undefined) return false
  return follows(copyParent, parent) && placeIn(copyParent, copy) === placeIn(parent, mount)
}

/**
 * A key that a mount shares with every mount that goes away with it, and with few others; undefined if the table lacks its
 * parent.
 */
function propagationKey(table: MountTable, mount: MountInfo): string | undefined {
  const parent = parentOf(table, mount)
  return parent === undefined ? undefined : [mount.dev, mount.root, parent.dev, placeIn(parent, mount)].join('\0')
}

function parentOf(table: MountTable, { parentId }: MountInfo): MountInfo | undefined {
  return table.raw.byId(parentId)
}

/** A slave of a slave follows as well, but the table does not always show that; if not shown, it counts as not following. */
function follows(mount: MountInfo, leader: MountInfo): boolean {
  const groups = new Set(groupsOf(leader, /^shared:(\d+)$/))
  return groupsOf(mount, /^(?:shared|master):(\d+)$/).some((group) => groups.has(group))
}

function groupsOf({ optionalFields }: MountInfo, field: RegExp): string[] {
  return optionalFields.flatMap((each) => field.exec(each)?.[1] ?? [])
}

/** Path of a mount point within the file system of the mount that it is on. */
function placeIn(parent: MountInfo, mount: MountInfo): string {
  const { mountPoint } = mount.raw ?? mount
  return posix.join(parent.root, posix.relative(undeletedPath(parent.mountPoint), undeletedPath(mountPoint)))
}

const byKey = memoize((_: MountTable) => new Map<string, ReadonlyMap<string | undefined, readonly MountInfo[]>>())

/** Every other mount whose unmount would unmount this one as well. */
export function leadersOf(table: MountTable, mount: MountInfo): readonly MountInfo[] {
  const all = table.ofDevice(mount.dev)
  const key = propagationKey(table, mount)
  if (all.length < 2 || key === undefined) return []
  const keys = once(byKey(table), mount.dev, () => Map.groupBy(all, (each) => propagationKey(table, each)))
  return (keys.get(key) ?? []).filter((each) => each.id !== mount.id && goesWith(table, each, mount))
}

// Mounts that the table shows more than once: below a shared directory that is bind-mounted on itself (O35).

/** Every other mount of the table that goes away with this one. */
export function copiesOf(table: MountTable, mount: MountInfo): MountInfo[] {
  return table.ofDevice(mount.dev).filter((each) => each.id !== mount.id && goesWith(table, mount, each))
}

/**
 * The mounts on a path, without hidden copies that go away with a visible mount: each mount once, however often the table shows
 * it. Other hidden mounts are kept, since they are separate mounts.
 */
export function withoutCopies(table: MountTable, path: string): readonly MountInfo[] {
  const all = table.at(path)
  if (all.length < 2) return all
  const shown = new Set(table.reached(path))
  if (shown.size === all.length || shown.size === 0) return all
  return all.filter((each) => shown.has(each) || !leadersOf(table, each).some((leader) => shown.has(leader)))
}
