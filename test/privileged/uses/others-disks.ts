/**
 * Loop devices are the machine's. What tests that were killed have left of them would hold back every detach here, since
 * nobody can say whose their files are: in this mount namespace the kernel tells nothing of them.
 */
import { existsSync } from 'node:fs'
import { readLoops } from '../../../src/core/apply/device-use.ts'
import { sh } from '../../helpers/scenario.ts'

/** Before anything is made. Those that are in use just now, of another test, stay in sight: their numbers may come back. */
export function hideLeftDisks(): void {
  const left = readLoops().filter(({ backingFile }) => !existsSync(backingFile) || backingFile === '/')
  for (const { device } of left) {
    sh('mount', '-t', 'tmpfs', '-o', 'ro', 'tmpfs', `/sys/devices/virtual/block/${device.slice('/dev/'.length)}`)
  }
}

/** Loop devices that a text names and that are not among these: another test's, on a machine that is shared. */
export function namesOthers(text: string, own: readonly string[]): boolean {
  return (text.match(/\bloop\d+/g) ?? []).some((name) => !own.includes(name))
}
