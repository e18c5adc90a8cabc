/** Errors by which a disk, or the server of a file system, shows that it fails: what they mean, and what to do about them. */

import type { OutcomeCode } from './codes.ts'
import type { Hint } from './command.ts'
import { codeOf, errnoOf, errorMessage, isMissing, StepFailed, saidOfAny } from './findings.ts'

interface DiskTrouble {
  readonly meaning: string
  readonly hint: Hint
}

const FULL: DiskTrouble = {
  meaning: 'its file system is full',
  hint: 'Make room there, blocks and inodes (df, df -i); then plan again.',
}
const READ_ONLY: DiskTrouble = {
  meaning: 'its file system is read-only',
  hint: 'The kernel makes a file system read-only after errors (dmesg): repair it and mount it writable, then plan again.',
}
const BROKEN: DiskTrouble = {
  meaning: 'its disk or server fails',
  hint: 'See the kernel log (dmesg) and repair the disk or the server first; then plan again.',
}
/** Asked by a child, which waits for it still (trust/walk.ts). */
const SILENT: DiskTrouble = { ...BROKEN, meaning: 'its file system does not answer' }

const TROUBLES: Readonly<Record<string, DiskTrouble>> = {
  ENOSPC: FULL,
  EDQUOT: FULL,
  EROFS: READ_ONLY,
  EIO: BROKEN,
  ESTALE: BROKEN,
  ENOTCONN: BROKEN,
  ENODEV: BROKEN,
  ENXIO: BROKEN,
  ETIMEDOUT: SILENT,
}

/** Undefined for any other error. @param error what a system call threw, or its errno's name */
export function diskTrouble(error: unknown): DiskTrouble | undefined {
  return TROUBLES[typeof error === 'string' ? error : (errnoOf(error) ?? '')]
}

/**
 * What a system call threw, for the end of a sentence: the meaning above if there is one, otherwise the system's own message.
 */
export function troubleText(error: unknown): string {
  const trouble = diskTrouble(error)
  if (trouble !== undefined) return `${trouble.meaning} (${errnoOf(error)})`
  // A path through a descriptor means nothing to a reader, and the sentence already names the file.
  return errorMessage(error).replace(/, \w+ '\/proc\/self\/fd\/.*$/s, '')
}

/** The same of a file that was to be read. */
export function unreadText(error: unknown): string {
  if (isMissing(error)) return 'no such file'
  const isDenied = ['EACCES', 'EPERM'].includes(errnoOf(error) ?? '')
  return isDenied ? 'permission denied' : troubleText(error)
}

/**
 * A step that failed with the system's error.
 *
 * @param what a path
 * @param done what could not be done with it
 */
export function diskFailure(what: string, done: string, cause: unknown, code: OutcomeCode = 'WriteFailed'): StepFailed {
  const trouble = diskTrouble(cause)
  const why = trouble === undefined ? ` (${codeOf(cause) ?? String(cause)})` : `: ${troubleText(cause)}`
  return new StepFailed(saidOfAny(code, 'notDone', { what, done, why }), { cause, hint: trouble?.hint })
}
