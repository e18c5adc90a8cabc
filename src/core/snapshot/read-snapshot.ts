import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { errnoOf, errorMessage, VolctlError } from '../errors.ts'
import type { NodeSnapshot } from '../model/snapshot.ts'
import { parseMountinfo } from '../mountinfo/parse-mountinfo.ts'
import type { NodeState } from '../node-state.ts'
import { parseDocument, shownField } from '../parse-document.ts'
import { JSON_LIMITS } from '../trust/parse-json.ts'
import { snapshotDefect } from './snapshot-defect.ts'

const VERSION = 'volctl.io/v1'
const KIND = 'NodeSnapshot'

/** Packed or not. A table of 100,000 mounts and a tree of as many entries make about 60 MB. */
const MAX_BYTES = JSON_LIMITS.maxBytes

/** Two and a half times what 100,000 mounts take, the kernel's own limit. It is there three times while it is read. */
const MAX_MOUNT_TABLE = 64 * 1024 * 1024

/** No deflated byte becomes more. */
const MOST_UNPACKED = 1032

/**
 * A node as a snapshot shows it. Sections that the snapshot lacks stay absent: the plan says what it cannot know.
 * Plain or gzip is told by content, not by name.
 *
 * @throws VolctlError one clear line on what is wrong with the file
 */
export async function readSnapshot(path: string): Promise<NodeState> {
  const snapshot = parseSnapshot(readBounded(path), path)
  return { snapshot, mounts: parseMountinfo(snapshot.mountinfo ?? '') }
}

const DEFECTS = { CutOff: 'SnapshotTruncated', NotJson: 'SnapshotNotJson', TooLarge: 'SnapshotTooLarge' } as const

/** @param name what messages call it */
export function parseSnapshot(bytes: Buffer, name: string): NodeSnapshot {
  const unpacked = decompressed(bytes, name)
  // What is packed stays meanwhile.
  const maxMemory = JSON_LIMITS.maxMemory - (unpacked === bytes ? 0 : bytes.length)
  const parsed = parseDocument(unpacked, { maxBytes: MAX_BYTES, maxMemory })
  if ('defect' in parsed) throw damaged(name, DEFECTS[parsed.defect], parsed.why, undefined, parsed.cause)
  const { apiVersion, kind } = parsed.document
  if (kind !== KIND) {
    throw damaged(
      name,
      'NotASnapshot',
      `its kind is ${shownField(kind)}, not ${KIND}`,
      'Write one with: volctl snapshot -o FILE',
    )
  }
  if (apiVersion !== VERSION) {
    throw damaged(
      name,
      'SnapshotVersion',
      `its apiVersion is ${shownField(apiVersion)}; this volctl reads ${VERSION}`,
      'Use the volctl that wrote it, or write a new snapshot with this one.',
    )
  }
  const defect = snapshotDefect(parsed.document)
  if (defect !== undefined) throw damaged(name, 'SnapshotDamaged', defect)
  const snapshot = parsed.document as unknown as NodeSnapshot
  if ((snapshot.mountinfo?.length ?? 0) > MAX_MOUNT_TABLE) {
    throw damaged(name, 'SnapshotTooLarge', `its mount table is larger than ${MAX_MOUNT_TABLE} bytes`)
  }
  return snapshot
}

function readBounded(path: string): Buffer {
  let fd: number | undefined
  try {
    fd = path === '-' ? 0 : openSync(path, constants.O_RDONLY)
    const stat = fstatSync(fd)
    if (stat.isDirectory()) throw damaged(path, 'SnapshotUnreadable', 'it is a directory')
    if (stat.size > MAX_BYTES) throw damaged(path, 'SnapshotTooLarge', `it is larger than ${MAX_BYTES} bytes`)
    return readFileSync(fd)
  } catch (error) {
    if (error instanceof VolctlError) throw error
    const why = errnoOf(error) === 'ENOENT' ? 'there is no such file' : errorMessage(error)
    throw damaged(path, 'SnapshotUnreadable', why, 'Check the path.', error)
  } finally {
    if (fd !== undefined && fd > 2) closeSync(fd)
  }
}

function decompressed(bytes: Buffer, name: string): Buffer {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  try {
    // One piece that is large enough, of which only what is written takes memory: several would be there twice at the end.
    const chunkSize = Math.min(MAX_BYTES, bytes.length * MOST_UNPACKED + 1024) + 1
    return gunzipSync(bytes, { maxOutputLength: MAX_BYTES, chunkSize })
  } catch (error) {
    if (errnoOf(error) === 'ERR_BUFFER_TOO_LARGE') {
      throw damaged(name, 'SnapshotTooLarge', `it unpacks to more than ${MAX_BYTES} bytes`)
    }
    const truncated = errorMessage(error).includes('unexpected end')
    throw damaged(
      name,
      'SnapshotTruncated',
      truncated ? 'it is cut off' : `it cannot be unpacked: ${errorMessage(error)}`,
      undefined,
      error,
    )
  }
}

function damaged(
  name: string,
  code: string,
  why: string,
  hint = 'Take the snapshot again: volctl snapshot -o FILE',
  cause?: unknown,
): VolctlError {
  return new VolctlError(code, `snapshot ${name}: ${why}`, { hint, ...(cause !== undefined && { cause }) })
}
