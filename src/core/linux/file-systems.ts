export { cannotHang } from '../trust/kernel.ts'

/** One device number of these types may stand for several directories of a server; only the source distinguishes them. */
const OF_SERVERS = new Set(['nfs', 'nfs4', 'cifs', 'smb3', 'ceph'])

export function isOfServer(fsType: string): boolean {
  return OF_SERVERS.has(fsType)
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
