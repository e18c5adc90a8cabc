import { randomUUID } from 'node:crypto'
import { closeSync, fchmodSync, fsyncSync, renameSync, unlinkSync } from 'node:fs'
import { NotAFile, nameIn, openDirectoryOf, whatElseIsAt } from '../trust/files.ts'
import { createNew, openOwnDirectory, writeThrough } from '../trust/plain-files.ts'

/** What volctl writes names claims, servers and volume handles. */
const OWNER_ONLY = 0o600

/**
 * Writes a file whole or not at all, for its owner alone: under a name beside it that must not exist, with mode 0600
 * whatever the umask, on the disk, and then renamed over the wanted name, in a directory that is held by a descriptor.
 *
 * What is there already is replaced, if it is a plain file, and never written to: of a hard link the other name stays as it
 * is. Nothing else is replaced or written to, whosesoever (S33), and no link that somebody else could change is followed on
 * the way there.
 *
 * @throws NotTrusted, NotAFile, or whatever the file system says; of the draft nothing is left that can be removed
 */
export function replaceFile(path: string, content: string | Uint8Array): void {
  const { fd: directory, name } = openDirectoryOf(path)
  try {
    const file = nameIn(directory, name)
    const odd = whatElseIsAt(file)
    if (odd !== undefined) throw new NotAFile(odd)
    const draft = `${file}.${randomUUID()}`
    writeDraft(draft, content)
    try {
      renameSync(draft, file)
    } catch (error) {
      removeDraft(draft)
      throw error
    }
    syncDirectory(nameIn(directory, '.'))
  } finally {
    closeSync(directory)
  }
}

function writeDraft(draft: string, content: string | Uint8Array): void {
  const fd = createNew(draft, OWNER_ONLY)
  try {
    fchmodSync(fd, OWNER_ONLY)
    writeThrough(fd, content)
  } catch (error) {
    removeDraft(draft)
    throw error
  } finally {
    closeSync(fd)
  }
}

/** Where the disk fails this may as well: why the file could not be written is what is told. */
function removeDraft(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // It has a name of its own, and is in nobody's way.
  }
}

/** A name is on the disk only when its directory is; some file systems cannot say so, and lose nothing by it. */
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
