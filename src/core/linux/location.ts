/** The place of a path in a mount table, and what the kinds of file systems there are like. */

import { isIP } from 'node:net'
import { posix } from 'node:path'
import { memoize, once } from '../base/collections.ts'
import { PathIndex } from '../base/path-index.ts'
import { type MountInfo, type MountTable, ownPathOf, type Shown } from './mount-table.ts'
import { isWithin, plainPath, undeletedRoot } from './paths.ts'

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
  if ([path, from, to].some((each) => plainPath(each) !== each) || !isWithin(path, from))
    return posix.join(to, posix.relative(from, path))
  const below = from === '/' ? path : path.slice(from.length)
  return to === '/' ? below || '/' : `${to}${below === '/' ? '' : below}`
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

export { cannotHang } from '../trust/kernel.ts'

/** One device number of these types may stand for several directories of a server; only the source distinguishes them. */
const OF_SERVERS = new Set(['nfs', 'nfs4', 'cifs', 'smb3', 'ceph'])

export function isOfServer(fsType: string): boolean {
  return OF_SERVERS.has(fsType)
}

/** `SERVER:/PATH`, `//SERVER/PATH`, of Ceph `USER@FSID.NAME=/PATH`. A name and an address are not compared, nor what has another form. @param named a part of it agrees */
export function areOtherExports(shown: string, named: string): boolean {
  const [a, b] = [exportOf(shown), exportOf(named)]
  if (a === undefined || b === undefined) return false
  if (!isWithin(a.path, b.path)) return true
  const isHost = /^[\w.-]+$|^[\da-f:]+$/i
  if (!isHost.test(a.server) || !isHost.test(b.server) || isIP(a.server) !== isIP(b.server)) return false
  return a.server !== b.server && !a.server.startsWith(`${b.server}.`) && !b.server.startsWith(`${a.server}.`)
}

function exportOf(source: string) {
  const [, server, path] = /^(.+)[:=](\/.*)$/.exec(source) ?? /^\/\/([^/]+)(\/.*)$/.exec(source) ?? []
  if (server === undefined || path === undefined) return undefined
  const host = server.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  return { server: inOneSpelling(host), path: posix.resolve('/', path) }
}

/** An address of IPv6, which has many spellings; any other as it is. */
export function inOneSpelling(host: string): string {
  const url = `http://[${host}]`
  return URL.canParse(url) ? new URL(url).hostname.slice(1, -1) : host
}

/** Types that any user may mount in a user namespace of his own, with whatever text as the source (FS_USERNS_MOUNT). */
const OF_ANYBODY = new Set([
  'tmpfs',
  'ramfs',
  'overlay',
  'proc',
  'sysfs',
  'devpts',
  'mqueue',
  'cgroup',
  'cgroup2',
  'bpf',
  'binfmt_misc',
  'fuse',
])

/** True: the source says nothing about a device. */
export function isSourceAnyText(fsType: string): boolean {
  return OF_ANYBODY.has(fsType) || fsType.startsWith('fuse.')
}

/** "ext4 of /dev/sdb": a file system without a device is mounted by its own name, or by "none", which says nothing. */
export function fileSystemText({ fsType, source }: { readonly fsType: string; readonly source: string }): string {
  return ['', 'none', fsType].includes(source) ? fsType : `${fsType} of ${source}`
}
