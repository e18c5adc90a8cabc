import { gzipSync } from 'node:zlib'
import { VolctlError } from '../errors/errors.ts'
import { troubleText } from '../files/disk-trouble.ts'
import { replaceFile } from '../files/replace-file.ts'
import type { NodeSnapshot } from '../model/snapshot.ts'

/** A snapshot as one JSON document. */
export function snapshotText(snapshot: NodeSnapshot): string {
  return `${JSON.stringify(snapshot, undefined, 1)}\n`
}

/**
 * Writes a snapshot to a file, compressed where its name ends in .gz: whole or not at all, readable by its owner only.
 *
 * @param name what messages call the file
 * @throws VolctlError SnapshotNotWritten
 */
export function writeSnapshot(snapshot: NodeSnapshot, path: string, name = path): void {
  const text = snapshotText(snapshot)
  try {
    replaceFile(path, path.endsWith('.gz') ? gzipSync(text) : text)
  } catch (error) {
    throw snapshotNotWritten(name, error)
  }
}

export function snapshotNotWritten(name: string, cause: unknown): VolctlError {
  return new VolctlError('SnapshotNotWritten', `snapshot ${name}: ${troubleText(cause)}`, {
    cause,
    hint: 'Give a plain file in an existing, writable directory with free space; or "-" for standard output.',
  })
}
