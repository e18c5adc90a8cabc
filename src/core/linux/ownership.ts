/** Gives a volume to a group: which bits fsGroup sets, when the walk can be skipped, and the walk (P31, P32). */

import { chmodSync, chownSync, closeSync, fstatSync, type Stats } from 'node:fs'
import { diskFailure } from '../messages/disk-trouble.ts'
import { errnoOf, StepFailed, StepInterrupted, said } from '../messages/findings.ts'
import { markEntry } from '../trust/plain-files.ts'
import { count, flag, object, oneOf, path, type ShapeOf, scalar } from '../trust/shape.ts'
import { type Visits, walkDown } from './delete-content.ts'
import { asDirectory } from './descriptors.ts'

const PERMISSIONS = 0o7777
const SETGID = 0o2000

/** Permissions with the bits of the group added; none is ever removed. Not for links, which have no mode. */
export function ownedMode(mode: number, isDirectory: boolean, readOnly: boolean): number {
  const added = isDirectory ? directoryBits(readOnly) : readOnly ? 0o440 : 0o660
  return (mode & PERMISSIONS) | added
}

/** True if the attributes of the volume's root directory allow skipping the whole walk (P32). */
export function isSkipped(root: Pick<Stats, 'mode' | 'gid'>, { gid, policy, readOnly }: Ownership): boolean {
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

// The walk: every entry below a directory, children before their directory, and the directory itself last
// (P31). So OnRootMismatch never takes an interrupted walk for a complete one, and another walk does the rest.
//
// Every entry is held by a descriptor before it is examined. Links are changed themselves and never followed. An entry in
// another mount is left alone: unlike the kubelet, volctl does not change content that belongs to somebody else.

export interface ChangeOwnershipOptions {
  /** Id of the mount that the directory must be in. */
  readonly mountId: number
  readonly ownership: Ownership
  /** Called for every entry, with the number of entries so far. */
  readonly onEntry?: (entries: number) => void
  readonly signal?: AbortSignal
}

export interface OwnershipChange {
  /** None: the root directory already has the right group and mode, and the policy OnRootMismatch relies on it. */
  readonly entries: number
  /** Entries whose group or mode the file system did not change (P31: that is no failure). */
  readonly failed: number
  /** Entries that were left alone because another mount is on them. */
  readonly mounts: readonly string[]
}

// The same in a child process (src/child.ts), for a file system that may hang: a line of JSON each.

/** What the child is asked for, checked by shape. */
export const walkRequest = object({
  /** PID of the parent: the walk ends when it ends. */
  parent: count,
  path,
  mountId: count,
  ownership,
})

/** A line of its output. */
export interface WalkMessage {
  /** How many it has done so far. */
  readonly entries?: number
  readonly done?: OwnershipChange
  readonly failed?: Pick<StepFailed, 'code' | 'message' | 'args' | 'hint'>
}

/**
 * @throws StepFailed Interrupted, Swapped, ForeignMount where the directory itself is in another mount, WriteFailed
 * where the walk cannot go on
 */
export async function changeOwnership(
  path: string,
  { mountId, ownership, onEntry, signal }: ChangeOwnershipOptions,
): Promise<OwnershipChange> {
  const { gid, readOnly } = ownership
  const mounts: string[] = []
  let [entries, failed] = [0, 0]
  const modeFor = (entry: Stats): number => ownedMode(entry.mode, entry.isDirectory(), readOnly)
  const isRight = (entry: Stats): boolean =>
    entry.gid === gid && (entry.isSymbolicLink() || modeFor(entry) === (entry.mode & PERMISSIONS))
  /** The group first, since changing it may clear setuid and setgid. Through /proc the entry itself is changed, even a link. */
  const change = (fd: number, entry: Stats): void => {
    entries += 1
    onEntry?.(entries)
    if (isRight(entry)) return
    const itself = `/proc/self/fd/${fd}`
    const changed = [
      attempt(() => chownSync(itself, -1, gid)),
      entry.isSymbolicLink() || attempt(() => chmodSync(itself, modeFor(entry))),
    ]
    if (changed.includes(false)) failed += 1
  }
  /** An entry that was deleted meanwhile is skipped. */
  const visit: Visits['visit'] = ({ directory, at, where }, enter) => {
    let fd: number | undefined
    try {
      fd = markEntry(at)
      const entry = fstatSync(fd)
      // What is right already need not be asked where it is.
      const isAsked = entry.isDirectory() || !isRight(entry)
      const inside = isAsked ? asDirectory(fd, directory) : undefined
      if (isAsked && inside === undefined) mounts.push(where())
      else if (inside !== undefined && entry.isDirectory()) {
        fd = undefined
        enter(inside)
      } else change(fd, entry)
    } catch (error) {
      if (error instanceof StepFailed) throw error
      if (errnoOf(error) !== 'ENOENT') throw diskFailure(where(), 'read', error)
    } finally {
      if (fd !== undefined) closeSync(fd)
    }
  }
  await walkDown(path, mountId, {
    begin: (top) => !isSkipped(fstatSync(top.fd), ownership),
    visit,
    leave: ({ fd }) => change(fd, fstatSync(fd)),
    signal,
    interrupted: () =>
      new StepInterrupted(said('Interrupted.walk', { path, count: entries }), {
        hint: 'Plan again: the next apply changes the remaining files.',
      }),
  })
  return { entries, failed, mounts }
}

/** Errors of single entries do not fail the step (P31): the file system may not support groups. */
function attempt(call: () => void): boolean {
  try {
    call()
    return true
  } catch {
    return false
  }
}
