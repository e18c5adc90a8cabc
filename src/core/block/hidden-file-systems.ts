/** File systems that are still alive on a device although no mount table has them. */
import type { MountTable } from '../mountinfo/mount-table.ts'
import { kernelTextIfAny, listIfAny } from '../trust/kernel.ts'

export interface HiddenFileSystem {
  /** The block device's name in sysfs: "sdb1", "dm-3". */
  readonly device: string
  /** "major:minor" */
  readonly dev: string
  readonly fsType: string
}

/** Types that sysfs lists by device name. (btrfs and bcachefs are listed by id, others not at all.) */
export const LISTED = ['ext4', 'xfs', 'f2fs']

/** @param tables of all mount namespaces */
export function hiddenFileSystems(tables: readonly MountTable[], sys = '/sys'): readonly HiddenFileSystem[] {
  return LISTED.flatMap((fsType) =>
    listIfAny(`${sys}/fs/${fsType}`).flatMap((device) => {
      // Other directories in it belong to the file system type ("features", "stats").
      const dev = kernelTextIfAny(`${sys}/class/block/${device}/dev`)
      const isShown = dev === undefined || tables.some((table) => table.ofDevice(dev).length > 0)
      return isShown ? [] : [{ device, dev, fsType }]
    }),
  )
}
