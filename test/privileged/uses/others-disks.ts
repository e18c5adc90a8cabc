/**
 * Loop devices are the machine's. Those of other tests, and what killed ones have left, would hold back every detach here,
 * since nobody can say whose their files are.
 */
import { spawnSync } from 'node:child_process'
import { readLoops } from '../../../src/core/block/device-use.ts'
import { sh } from '../../helpers/scenario.ts'

/** Does work while the kernel tells nothing, in this mount namespace, of disks that are there now and not of this scenario. */
export async function withoutOthersDisks<T>(isOwn: (name: string) => boolean, work: () => Promise<T>): Promise<T> {
  const others = readLoops().flatMap(({ device, backingFile }) => {
    const name = device.slice('/dev/'.length)
    return isOwn(name) || isOwn(backingFile) ? [] : [`/sys/devices/virtual/block/${name}`]
  })
  for (const directory of others) sh('mount', '-t', 'tmpfs', '-o', 'ro', 'tmpfs', directory)
  try {
    return await work()
  } finally {
    for (const directory of others) spawnSync('umount', [directory])
  }
}

/** Does a text name a loop device that is not of this scenario? One may have come meanwhile. */
export function namesOthers(text: string, isOwn: (name: string) => boolean): boolean {
  return (text.match(/\bloop\d+/g) ?? []).some((name) => !isOwn(name))
}
