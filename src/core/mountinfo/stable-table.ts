/** Mount tables of kernels before 5.8, which may leave lines out while mounts change: read until two reads in a row agree (S27, P111). */
import { release } from 'node:os'
import { VolctlError } from '../errors/errors.ts'
import { kernelBytes } from '../trust/kernel.ts'
import type { MountTable } from './mount-table.ts'
import { parseMountinfo } from './parse-mountinfo.ts'

const FIRST_RELIABLE_KERNEL = [5, 8] as const
const TRIES = 10

/**
 * The mount table of another namespace, which is read whole.
 *
 * @throws VolctlError MountinfoUnstable or MountinfoDamaged, and what the file system says
 */
export function tableAt(path: string, kernel = release(), read: (path: string) => Buffer = kernelBytes): MountTable {
  return parseMountinfo(stableRead(() => read(path), kernel))
}

/** @throws VolctlError MountinfoUnstable */
export function stableRead(read: () => Buffer, kernel: string): Buffer {
  let bytes = read()
  if (isReliable(kernel)) return bytes
  for (let tries = 0; tries < TRIES; tries++) {
    const again = read()
    if (again.equals(bytes)) return bytes
    bytes = again
  }
  throw new VolctlError('MountinfoUnstable', `the mount table changed on each of ${TRIES} reads`, {
    hint: 'Something mounts or unmounts all the time: wait until it ends, then try again.',
  })
}

/** A version that cannot be read counts as an old one. */
export function isReliable(kernel: string): boolean {
  const [, major, minor] = /^(\d+)\.(\d+)\./.exec(kernel) ?? []
  if (major === undefined || minor === undefined) return false
  const [wantedMajor, wantedMinor] = FIRST_RELIABLE_KERNEL
  return Number(major) > wantedMajor || (Number(major) === wantedMajor && Number(minor) >= wantedMinor)
}
