/** Which bits fsGroup sets, and when nothing has to be done (P31, P32): pure. */

const PERMISSIONS = 0o7777
const SETGID = 0o2000

export interface OwnedEntry {
  /** As stat(2) gives it: type and permissions. */
  readonly mode: number
  readonly gid: number
}

/**
 * Permissions with the bits of the group added; none is ever taken away. For what is no link: a link has no mode of its
 * own.
 */
export function ownedMode(mode: number, isDirectory: boolean, readOnly: boolean): number {
  const added = isDirectory ? directoryBits(readOnly) : readOnly ? 0o440 : 0o660
  return (mode & PERMISSIONS) | added
}

/** Is the whole walk to be left out, by the root of the volume, which is a directory (P32). */
export function isSkipped(root: OwnedEntry, { gid, policy, readOnly }: Ownership): boolean {
  const needed = directoryBits(readOnly)
  return policy === 'OnRootMismatch' && root.gid === gid && (root.mode & needed) === needed
}

function directoryBits(readOnly: boolean): number {
  return SETGID | (readOnly ? 0o550 : 0o770)
}

/** fsGroup, as the kubelet gives a volume to a group (P31, P32). */
export interface Ownership {
  readonly gid: number
  readonly policy: 'Always' | 'OnRootMismatch'
  /** Its files are only to be read: fewer bits are set. */
  readonly readOnly: boolean
  /** The volume counts as set up all the same where the walk ends early (P34). */
  readonly ignoreErrors: boolean
}
