/** File systems that are still alive on a device although no mount table has them. */
import type { MountTable } from '../mountinfo/mount-table.ts'
import { namesIn, textIn } from './sysfs-block-tree.ts'

export interface HiddenFileSystem {
  /** The block device's name in sysfs: "sdb1", "dm-3". */
  readonly device: string
  /** "major:minor" */
  readonly dev: string
  readonly fsType: string
}

/** Types that sysfs lists by device name. (btrfs and bcachefs are listed by id, others not at all.) */
export const LISTED = ['ext4', 'xfs', 'f2fs']

/** @param tables of all mount namespaces @throws what cannot be read may hide one (S3) */
export function hiddenFileSystems(tables: readonly MountTable[], sys = '/sys'): readonly HiddenFileSystem[] {
  return LISTED.flatMap((fsType) =>
    namesIn(`${sys}/fs/${fsType}`).flatMap((device) => {
      // Other directories in it belong to the file system type ("features", "stats").
      const dev = textIn(`${sys}/class/block/${device}/dev`)
      const isShown = dev === undefined || tables.some((table) => table.ofDevice(dev).length > 0)
      return isShown ? [] : [{ device, dev, fsType }]
    }),
  )
}
