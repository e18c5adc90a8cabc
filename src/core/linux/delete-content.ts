/**
 * Deletes what is below a directory, and never anything else (S12).
 *
 * The walk holds a descriptor of every directory that it is in, and names entries as /proc/self/fd/N/NAME: a path that was
 * checked may have been swapped since, a descriptor cannot. Every directory is opened without following links, and must be in
 * the mount where the walk began, by the mount id of its descriptor. Comparing the device is not enough: a bind mount of the
 * same file system has the same device.
 */

import { lstatSync, rmdirSync, unlinkSync } from 'node:fs'
import { posix } from 'node:path'
import { commandLine } from '../base/command.ts'
import { errnoOf } from '../base/errors.ts'
import { StepFailed, StepInterrupted } from '../base/operation-error.ts'
import type { OutcomeCode } from '../messages/codes.ts'
import { type Entry, type Visits, walkDown } from './descent.ts'
import { InOtherMount, openBelow } from './descriptors.ts'
import { diskFailure } from './disk-trouble.ts'

export interface Deleted {
  readonly files: number
  readonly bytes: number
}

export interface DeleteContentOptions {
  /** Id of the mount that the directory must be in. */
  readonly mountId: number
  /** Called once before the first deletion, and not for an empty directory; throws to refuse. */
  readonly beforeFirst?: () => void | Promise<void>
  /** Only empty directories go: nobody has agreed to the loss of a file. */
  readonly directoriesOnly?: boolean
  readonly signal?: AbortSignal
}

export async function deleteContent(
  path: string,
  { mountId, beforeFirst, directoriesOnly, signal }: DeleteContentOptions,
): Promise<Deleted> {
  const deleted = { files: 0, bytes: 0 }
  /** An entry may change its type at any time; each attempt goes by its type at that moment. */
  const visit: Visits['visit'] = ({ directory, name, at, where }, enter) => {
    for (let attempt = 0; attempt < 3; attempt++) {
      try {
        const entry = lstatSync(at)
        if (entry.isDirectory()) {
          enter(openBelow(directory, name))
          return
        }
        if (directoriesOnly === true)
          throw new StepFailed('UnexpectedFile', `${where()} was not there when the plan was made, and is kept`)
        unlinkSync(at)
        deleted.files += 1
        deleted.bytes += entry.size
        return
      } catch (error) {
        const code = errnoOf(error)
        if (code === 'ENOENT') return
        if (code !== 'EISDIR' && code !== 'ENOTDIR' && code !== 'ELOOP') throw notDeleted(where(), error)
      }
    }
    throw new StepFailed('Swapped', `${where()} keeps changing while it is being deleted`)
  }
  await walkDown(path, mountId, {
    begin: async (_, isEmpty) => {
      if (!isEmpty) await beforeFirst?.()
      return !isEmpty
    },
    visit,
    leave: (_, entry) => entry && removeEmpty(entry),
    signal,
    interrupted: () => new StepInterrupted(`${path}: interrupted after ${deleted.files} files`),
  })
  return deleted
}

function removeEmpty({ at, where }: Entry): void {
  try {
    rmdirSync(at)
  } catch (error) {
    const code = errnoOf(error)
    if (code === 'ENOENT') return
    // Replaced by a link, or filled again: the next plan judges what is there now.
    const isOther = code === 'ENOTDIR' || code === 'ENOTEMPTY' || code === 'EEXIST'
    throw notDeleted(where(), error, isOther ? 'Swapped' : 'WriteFailed')
  }
}

function notDeleted(path: string, cause: unknown, code: OutcomeCode = 'WriteFailed'): StepFailed {
  if (cause instanceof InOtherMount || errnoOf(cause) === 'EBUSY') {
    const message = `${path} is a mount point, and volctl never deletes the content of a mount`
    return new StepFailed('ForeignMount', message, { cause })
  }
  if (cause instanceof StepFailed) return cause
  const what = `${path} could not be deleted`
  // Nothing else keeps root from it: swap files are users, which were looked for.
  if (errnoOf(cause) === 'EPERM') {
    const words = `${commandLine('lsattr', '-d', path, posix.dirname(path))}; if nobody needs it, take that off (chattr -ia)`
    return new StepFailed(code, `${what}: it, or its directory, is immutable or append-only (EPERM)`, {
      cause,
      hint: `See which: ${words}, then plan again.`,
    })
  }
  return diskFailure(code, what, cause)
}
