import type { BlockDevice } from '../model/snapshot.ts'
import { kernelTextIfAny, listIfAny } from '../trust/kernel.ts'

/**
 * Every loop device that has a backing file (C19), from sysfs; nothing is opened. The kernel shows the path as seen in this
 * mount namespace; "/" or a text ending in " (deleted)" means that the file is not visible any more.
 *
 * @param sysBlock "/sys/block", or a fixture
 */
export function loopDevices(sysBlock = '/sys/block'): readonly BlockDevice[] {
  return listIfAny(sysBlock)
    .flatMap((name) => {
      const number = /^loop(\d+)$/.exec(name)?.[1]
      return number === undefined ? [] : [Number(number)]
    })
    .sort((a, b) => a - b)
    .flatMap((number) => {
      const backingFile = kernelTextIfAny(`${sysBlock}/loop${number}/loop/backing_file`)
      if (backingFile === undefined) return []
      const readOnly = kernelTextIfAny(`${sysBlock}/loop${number}/ro`) === '1'
      return [{ name: `/dev/loop${number}`, backingFile, ...(readOnly && { readOnly }) }]
    })
}

/** Names of all block devices and partitions as the kernel calls them (sda1, loop3, dm-0). */
export function blockDeviceNames(sysClassBlock = '/sys/class/block'): ReadonlySet<string> {
  return new Set(listIfAny(sysClassBlock))
}
