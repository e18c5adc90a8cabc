/** The bytes of a snapshot, of a node or of a cluster; and what is wrong with one, in one line. */
import type { ErrorCode } from '../codes/codes.ts'
import { errnoOf, errorMessage, VolctlError } from '../errors/errors.ts'
import { troubleText } from '../files/disk-trouble.ts'
import { defined } from '../lang/defined.ts'
import { TooLarge } from '../trust/plain-files.ts'
import { gunzipped, isGzip } from '../trust/unpack.ts'
import { readSource, type Source, type SourceLimits, TooSlow } from './read-source.ts'

/** The error of a snapshot that cannot be used. Without a hint of its own it says how to take another. */
export type Damaged = (name: string, code: ErrorCode, why: string, hint?: string, cause?: unknown) => VolctlError

/**
 * @param subject how the messages begin, before the file's name
 * @param command takes such a snapshot
 */
export function damagedSnapshot(subject: string, command: string): Damaged {
  return (name, code, why, hint = `Take the snapshot again: ${command}`, cause = undefined) =>
    new VolctlError(code, `${subject} ${name}: ${why}`, { hint, ...defined({ cause }) })
}

/** @throws VolctlError SnapshotTooLarge, SnapshotUnreadable */
export async function readSnapshotBytes(path: string, limits: SourceLimits, damaged: Damaged): Promise<Source> {
  try {
    return await readSource(path, limits)
  } catch (error) {
    if (error instanceof TooLarge) throw damaged(path, 'SnapshotTooLarge', error.message, undefined, error)
    if (error instanceof TooSlow) throw damaged(path, 'SnapshotUnreadable', error.message, SAVE_FIRST, error)
    const why = errnoOf(error) === 'ENOENT' ? 'no such file' : troubleText(error)
    throw damaged(path, 'SnapshotUnreadable', why, 'Check the path.', error)
  }
}

const SAVE_FIRST = 'Save the snapshot to a file first, and give that file.'

/**
 * Plain or gzip is decided by content, not by name.
 *
 * @returns the same bytes, if they are not compressed
 * @throws VolctlError SnapshotTooLarge, SnapshotTruncated
 */
export function unpackedSnapshot(bytes: Buffer, maxBytes: number, name: string, damaged: Damaged): Buffer {
  if (!isGzip(bytes)) return bytes
  try {
    return gunzipped(bytes, maxBytes)
  } catch (error) {
    if (error instanceof TooLarge) throw damaged(name, 'SnapshotTooLarge', error.message, undefined, error)
    const cutOff = errorMessage(error).includes('unexpected end')
    const why = cutOff ? 'the file is cut off' : `the file cannot be decompressed: ${errorMessage(error)}`
    throw damaged(name, 'SnapshotTruncated', why, undefined, error)
  }
}

const KIND = /^\s*\{\s*"apiVersion"\s*:\s*"[^"]*"\s*,\s*"kind"\s*:\s*"(NodeSnapshot|ClusterSnapshot)"/

/** What a snapshot is of, by its beginning, for messages about one that is not of the form that is asked for. */
export function snapshotKind(bytes: Buffer): 'NodeSnapshot' | 'ClusterSnapshot' | undefined {
  const kind = KIND.exec(bytes.toString('latin1', 0, 200))?.[1]
  return kind === 'NodeSnapshot' || kind === 'ClusterSnapshot' ? kind : undefined
}
