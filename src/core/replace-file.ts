import { randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { posix } from 'node:path'
import { openOwnDirectory } from './trust/plain-files.ts'

/** What volctl writes names claims, servers and volume handles. */
const OWNER_ONLY = 0o600

/**
 * Writes a file whole or not at all, for its owner alone: under a name beside it that must not exist, with mode 0600
 * whatever the umask, on the disk, and then renamed over the wanted name. No link under that name is ever followed.
 *
 * @throws whatever the file system says; of the draft nothing is left that can be removed
 */
export function replaceFile(path: string, content: string | Uint8Array): void {
  const draft = `${path}.${randomUUID()}`
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
  const fd = openSync(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, OWNER_ONLY)
  try {
    try {
      fchmodSync(fd, OWNER_ONLY)
      writeFileSync(fd, content)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(draft, path)
  } catch (error) {
    removeDraft(draft)
    throw error
  }
  syncDirectory(posix.dirname(path))
}

/** Where the disk fails this may as well: why the file could not be written is what is told. */
function removeDraft(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // It has a name of its own, and is in nobody's way.
  }
}

/** What there is under a name that must not be replaced, in words: anything but a plain file. */
export function irreplaceable(path: string): string | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined || found.isFile()) return undefined
  if (found.isDirectory()) return 'it is a directory'
  return found.isSymbolicLink() ? 'it is a symbolic link' : 'it is not a plain file'
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
