/** Which bits fsGroup sets, and when the walk can be skipped (P31, P32). Pure. */

import { flag, object, oneOf, type ShapeOf, scalar } from '../trust/shape.ts'

const PERMISSIONS = 0o7777
const SETGID = 0o2000

interface OwnedEntry {
  /** As stat(2) gives it: type and permissions. */
  readonly mode: number
  readonly gid: number
}

/**
 * Permissions with the bits of the group added; none is ever removed. Not for links, which have no mode.
 */
export function ownedMode(mode: number, isDirectory: boolean, readOnly: boolean): number {
  const added = isDirectory ? directoryBits(readOnly) : readOnly ? 0o440 : 0o660
  return (mode & PERMISSIONS) | added
}

/** True if the attributes of the volume's root directory allow skipping the whole walk (P32). */
export function isSkipped(root: OwnedEntry, { gid, policy, readOnly }: Ownership): boolean {
  const needed = directoryBits(readOnly)
  return policy === 'OnRootMismatch' && root.gid === gid && (root.mode & needed) === needed
}

function directoryBits(readOnly: boolean): number {
  return SETGID | (readOnly ? 0o550 : 0o770)
}

/** chown(2) takes the one above for "do not change". */
const MAX_GID = 2 ** 32 - 2

const gid = scalar<number>(
  (value) => Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= MAX_GID,
  'a group id',
  { type: 'integer', minimum: 0, maximum: MAX_GID },
)

/** fsGroup, as the kubelet gives a volume to a group (P31, P32). */
export const ownership = object({
  gid,
  policy: oneOf('Always', 'OnRootMismatch'),
  /** The volume is read-only: fewer bits are set. */
  readOnly: flag,
  /** The volume counts as set up even if the walk fails (P34). */
  ignoreErrors: flag,
})

export interface Ownership extends ShapeOf<typeof ownership> {}
