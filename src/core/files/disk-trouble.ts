/** What a disk, or a server behind a file system, answers when it fails: in words, and what to do about it. */
import { errnoOf, errorMessage } from '../errors/errors.ts'

export interface DiskTrouble {
  readonly words: string
  readonly hint: string
}

const FULL: DiskTrouble = {
  words: 'its file system is full',
  hint: 'Make room there, blocks and inodes (df, df -i); then plan again.',
}
const READ_ONLY: DiskTrouble = {
  words: 'its file system is read-only',
  hint: 'The kernel makes it so after errors (dmesg): repair it and mount it writable, then plan again.',
}
const BROKEN: DiskTrouble = {
  words: 'its disk or server fails',
  hint: 'Look at what the kernel says of it (dmesg) and repair that first; then plan again.',
}

const TROUBLES: Readonly<Record<string, DiskTrouble>> = {
  ENOSPC: FULL,
  EDQUOT: FULL,
  EROFS: READ_ONLY,
  EIO: BROKEN,
  ESTALE: BROKEN,
  ENOTCONN: BROKEN,
  ENODEV: BROKEN,
  ENXIO: BROKEN,
}

/** Undefined where the error is of another kind. @param error what a system call threw, or its errno's name */
export function diskTrouble(error: unknown): DiskTrouble | undefined {
  return TROUBLES[typeof error === 'string' ? error : (errnoOf(error) ?? '')]
}

/** What a system call threw, for the end of a sentence: in the words above where they fit, else in the system's own. */
export function troubleText(error: unknown): string {
  const trouble = diskTrouble(error)
  return trouble === undefined ? withoutDescriptor(errorMessage(error)) : `${trouble.words} (${errnoOf(error)})`
}

/** A path through a descriptor says nothing to a person, and the sentence has named the file. */
function withoutDescriptor(message: string): string {
  return message.replace(/, \w+ '\/proc\/self\/fd\/.*$/s, '')
}
