/** Types of local file systems: calls on them do not wait for a server. All others may hang. */
const LOCAL = new Set([
  'tmpfs',
  'ramfs',
  'devtmpfs',
  'hugetlbfs',
  'proc',
  'sysfs',
  'cgroup',
  'cgroup2',
  'overlay',
  'ext2',
  'ext3',
  'ext4',
  'xfs',
  'btrfs',
  'zfs',
  'f2fs',
  'bcachefs',
  'vfat',
  'exfat',
  'squashfs',
  'erofs',
  'iso9660',
])

export function cannotHang(fsType: string): boolean {
  return LOCAL.has(fsType)
}
