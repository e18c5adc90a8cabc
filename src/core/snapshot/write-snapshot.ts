import { randomUUID } from 'node:crypto'
import { closeSync, constants, fchmodSync, fsyncSync, openSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { errorMessage, VolctlError } from '../errors.ts'
import type { NodeSnapshot } from '../model/snapshot.ts'

/** Who may read a snapshot: it names claims, servers and volume handles. */
const MODE = 0o600

/** A snapshot as one JSON document. */
export function snapshotText(snapshot: NodeSnapshot): string {
  return `${JSON.stringify(snapshot, undefined, 1)}\n`
}

/**
 * Writes a snapshot to a file, compressed where its name ends in .gz.
 *
 * The file appears whole or not at all: it is written beside under a name that must not exist, with mode 0600 whatever
 * the umask, and renamed over the wanted name, so that no link under that name is ever followed.
 *
 * @throws VolctlError SnapshotNotWritten
 */
export function writeSnapshot(snapshot: NodeSnapshot, path: string): void {
  const text = snapshotText(snapshot)
  const draft = `${path}.${randomUUID()}`
  try {
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
    const fd = openSync(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, MODE)
    try {
      fchmodSync(fd, MODE)
      writeFileSync(fd, path.endsWith('.gz') ? gzipSync(text) : text)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(draft, path)
  } catch (error) {
    removeIfThere(draft)
    throw new VolctlError('SnapshotNotWritten', `snapshot ${path}: ${errorMessage(error)}`, {
      cause: error,
      hint: 'Name a file in a directory that exists and that you may write.',
    })
  }
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // It was never made.
  }
}
