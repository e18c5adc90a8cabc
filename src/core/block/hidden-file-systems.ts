/** File systems that live on a device though no mount table shows them. */
import type { MountTable } from '../mountinfo/mount-table.ts'
import { kernelTextIfAny, listIfAny } from '../trust/kernel.ts'

export interface HiddenFileSystem {
  /** The block device's name in sysfs: "sdb1", "dm-3". */
  readonly device: string
  /** "major:minor" */
  readonly dev: string
  readonly fsType: string
}

/** Those that sysfs lists by the name of their device. (Of btrfs and bcachefs it gives an id, and of others nothing.) */
export const LISTED = ['ext4', 'xfs', 'f2fs']

/** @param tables of every mount namespace that there is */
export function hiddenFileSystems(tables: readonly MountTable[], sys = '/sys'): readonly HiddenFileSystem[] {
  return LISTED.flatMap((fsType) =>
    listIfAny(`${sys}/fs/${fsType}`).flatMap((device) => {
      // Beside the devices lie directories of the file system as such ("features", "stats").
      const dev = kernelTextIfAny(`${sys}/class/block/${device}/dev`)
      const isShown = dev === undefined || tables.some((table) => table.ofDevice(dev).length > 0)
      return isShown ? [] : [{ device, dev, fsType }]
    }),
  )
}
