import { isIP } from 'node:net'
import { posix } from 'node:path'
import { isWithin } from './paths.ts'

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

function exportOf(source: string): { readonly server: string; readonly path: string } | undefined {
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
