import { gzipSync, type ZlibOptions } from 'node:zlib'
import { VolctlError } from '../errors/errors.ts'
import { troubleText } from '../files/disk-trouble.ts'
import { replaceFile } from '../files/replace-file.ts'
import type { NodeSnapshot } from '../model/snapshot.ts'

/** A snapshot as one JSON document. */
export function snapshotText(snapshot: NodeSnapshot): string {
  return `${JSON.stringify(snapshot, undefined, 1)}\n`
}

/** @param name what messages call the file @throws VolctlError NotWritten */
export function writeSnapshot(snapshot: NodeSnapshot, path: string, name = path): void {
  writeSnapshotFile(snapshotText(snapshot), path, name)
}

/**
 * Writes a snapshot of either scope to a file, compressed where its name ends in .gz: whole or not at all, readable by its owner only.
 *
 * @throws VolctlError NotWritten
 */
export function writeSnapshotFile(bytes: string | Buffer, path: string, name: string, options: ZlibOptions = {}): void {
  try {
    replaceFile(path, path.endsWith('.gz') ? gzipSync(bytes, options) : bytes)
  } catch (error) {
    throw snapshotNotWritten(name, error)
  }
}

export function snapshotNotWritten(name: string, cause: unknown): VolctlError {
  return new VolctlError('NotWritten', `snapshot ${name}: ${troubleText(cause)}`, {
    cause,
    hint: 'Give a plain file in an existing, writable directory with free space; or "-" for standard output.',
  })
}
