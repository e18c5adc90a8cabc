/** Mount tables of kernels before 5.8, which may leave lines out while mounts change: read until two reads in a row agree (S27, P111). */

import { release } from 'node:os'
import { said, VolctlError } from '../messages/findings.ts'
import { linesInPieces } from '../trust/kernel.ts'
import type { MountTable } from './mount-table.ts'
import { parseMountinfo } from './parse-mountinfo.ts'

const TRIES = 10

/**
 * The mount table of a namespace, piece by piece, so that one that is too large need not be read to its end (S34).
 *
 * @param take called with the number of bytes of each piece; throws TooLarge where it is enough. Default: a table of the node's own,
 * however long
 * @param read gives pieces of whole lines
 * @throws TooLarge, VolctlError NodeUnreadable, and what the file system says
 */
export function tableAt(
  path: string,
  take: (bytes: number) => void = () => {},
  kernel = release(),
  read: (path: string) => Iterable<Buffer> = linesInPieces,
): MountTable {
  const whole = (): string => {
    let text = ''
    take(0)
    for (const piece of read(path)) {
      take(piece.length)
      text += piece.toString()
    }
    return text
  }
  let text = whole()
  if (isKernelSince(5, 8, kernel)) return parseMountinfo(text)
  for (let tries = 0; tries < TRIES; tries++) {
    const again = whole()
    if (again === text) return parseMountinfo(text)
    text = again
  }
  throw new VolctlError(said('NodeUnreadable.changing', { tries: TRIES }), {
    hint: 'Something mounts or unmounts all the time: wait until it ends, then try again.',
  })
}

/** A version that cannot be read counts as an old one. */
export function isKernelSince(first: number, second: number, version: string): boolean {
  const [major = 0, minor = 0] = (/^(\d+)\.(\d+)/.exec(version) ?? []).slice(1).map(Number)
  return major > first || (major === first && minor >= second)
}
