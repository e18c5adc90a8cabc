import { randomUUID } from 'node:crypto'
import { fchmodSync, fsyncSync, renameSync, unlinkSync } from 'node:fs'
import { posix } from 'node:path'
import { closing } from '../base/closing.ts'
import { allowing, errnoOf } from '../base/errors.ts'
import { nameIn, openDirectoryOf, requirePlain } from '../trust/files.ts'
import { createNew, openOwnDirectory, writeThrough } from '../trust/plain-files.ts'

/** volctl's files name claims, servers and volume handles, so only their owner may read them. */
const OWNER_ONLY = 0o600

/**
 * Writes a file whole or not at all: a new file next to it, with its mode whatever the umask, is written to the disk and then
 * renamed over the wanted name, in a directory that is held by a descriptor.
 *
 * An existing plain file is replaced, and never written to, so that another hard link to it keeps its content. Anything else
 * at that name, whoever owns it, is an error (S33). No link that another user could change is followed on the way there.
 *
 * @throws NotTrusted, NotAFile, or the file system's error; the new file is then removed again, if possible
 */
export function replaceFile(path: string, content: string | Uint8Array): void {
  const { fd, name } = openDirectoryOf(path)
  closing(fd, (directory) => {
    const file = nameIn(directory, name)
    requirePlain(file)
    replaceBy(`${file}.${randomUUID()}`, file, content, OWNER_ONLY)
    syncDirectory(nameIn(directory, '.'))
  })
}

/** By a draft, which takes its name. @throws the system's error */
function replaceBy(draft: string, file: string, content: string | Uint8Array, mode: number): void {
  createWhole(draft, content, mode)
  try {
    renameSync(draft, file)
  } catch (error) {
    removeLeftover(draft)
    throw error
  }
}

/** A new file that is on the disk with all of its content, or not there. @throws the system's error */
function createWhole(path: string, content: string | Uint8Array, mode: number): void {
  closing(createNew(path, OWNER_ONLY), (fd) => {
    try {
      writeThrough(fd, content)
      fchmodSync(fd, mode)
    } catch (error) {
      removeLeftover(path)
      throw error
    }
  })
}

/** What an attempt has left. If the disk fails, this may fail as well; the first failure is the one to report. */
function removeLeftover(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // A draft has a name of its own, and does no harm; of a state file the caller checks whether it is there.
  }
}

/** A new name is on the disk only once its directory is synced. @throws the system's error */
export function syncDirectory(path: string | Buffer): void {
  // Some file systems do not support it, and need not.
  allowing(['EINVAL'], undefined, () => closing(openOwnDirectory(path), fsyncSync))
}

// A state file is on the disk before the driver is called (C14): after a power cut it is whole, or absent.

const STATE_MODE = 0o644

/**
 * A new file is created under its final name: no driver is called before the file is on the disk. An incomplete one (on a full disk)
 * would keep the kubelet from handling the volume, and is replaced the next time. An existing file is replaced as a whole.
 *
 * @throws the system's error
 */
export function writeStateFile(path: string, text: string): void {
  try {
    createWhole(path, text, STATE_MODE)
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error
    const draft = `${path}.new`
    removeLeftover(draft)
    replaceBy(draft, path, text, STATE_MODE)
  }
  syncDirectory(posix.dirname(path))
}
