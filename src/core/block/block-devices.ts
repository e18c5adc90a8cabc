import { posix } from 'node:path'
import type { BlockDevice } from '../model/snapshot.ts'
import { kernelTextIfAny, listIfAny } from '../trust/kernel.ts'
import { readLoops } from './device-use.ts'

/**
 * Every loop device that has a backing file (C19), from sysfs; nothing is opened. The kernel shows the path as seen in this
 * mount namespace; "/" or a text ending in " (deleted)" means that the file is not visible any more.
 *
 * @param sys of a fixture
 */
export function loopDevices(sys = '/sys'): readonly BlockDevice[] {
  const number = (name: string): number => Number(name.slice('/dev/loop'.length))
  return readLoops(sys)
    .map(({ device, backingFile }) => {
      const readOnly = kernelTextIfAny(`${sys}/block/${posix.basename(device)}/ro`) === '1'
      return { name: device, backingFile, ...(readOnly && { readOnly }) }
    })
    .toSorted((one, other) => number(one.name) - number(other.name))
}

/** Names of all block devices and partitions as the kernel calls them (sda1, loop3, dm-0). */
export function blockDeviceNames(sysClassBlock = '/sys/class/block'): ReadonlySet<string> {
  return new Set(listIfAny(sysClassBlock))
}
