import { randomUUID } from 'node:crypto'
import { closeSync, fchmodSync, fsyncSync, renameSync, unlinkSync } from 'node:fs'
import { NotAFile, nameIn, openDirectoryOf, whatElseIsAt } from '../trust/files.ts'
import { createNew, openOwnDirectory, writeThrough } from '../trust/plain-files.ts'

/** volctl's files name claims, servers and volume handles, so only their owner may read them. */
const OWNER_ONLY = 0o600

/**
 * Writes a file whole or not at all: a new file next to it, with its mode (0600 unless others may read it) whatever the umask, is
 * written to the disk and then renamed over the wanted name, in a directory that is held by a descriptor.
 *
 * An existing plain file is replaced, and never written to, so that another hard link to it keeps its content. Anything else
 * at that name, whoever owns it, is an error (S33). No link that another user could change is followed on the way there.
 *
 * @throws NotTrusted, NotAFile, or the file system's error; the new file is then removed again, if possible
 */
export function replaceFile(path: string, content: string | Uint8Array, mode = OWNER_ONLY): void {
  const { fd: directory, name } = openDirectoryOf(path)
  try {
    const file = nameIn(directory, name)
    const odd = whatElseIsAt(file)
    if (odd !== undefined) throw new NotAFile(odd)
    const draft = `${file}.${randomUUID()}`
    createWhole(draft, content, mode)
    try {
      renameSync(draft, file)
    } catch (error) {
      removeAfterFailure(draft)
      throw error
    }
    syncDirectory(nameIn(directory, '.'))
  } finally {
    closeSync(directory)
  }
}

/** A new file that is on the disk with all of its content, or not there. @throws the system's error */
export function createWhole(path: string, content: string | Uint8Array, mode: number): void {
  const fd = createNew(path, OWNER_ONLY)
  try {
    writeThrough(fd, content)
    fchmodSync(fd, mode)
  } catch (error) {
    removeAfterFailure(path)
    throw error
  } finally {
    closeSync(fd)
  }
}

/** If the disk fails, this may fail as well; the first failure is the one to report. */
export function removeAfterFailure(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // A draft has a name of its own, and does no harm; of a state file the caller checks whether it is there.
  }
}

/**
 * A new name is on the disk only once its directory is synced; some file systems do not support syncing a directory, and need
 * not.
 */
export function syncDirectory(path: string): void {
  const fd = openOwnDirectory(path)
  try {
    fsyncSync(fd)
  } catch {
    // EINVAL: nothing to wait for.
  } finally {
    closeSync(fd)
  }
}
