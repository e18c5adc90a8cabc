import { gzipSync, type ZlibOptions } from 'node:zlib'
import { replaceFile } from '../../linux/descriptors.ts'
import { parseMountinfo } from '../../linux/parse-mountinfo.ts'
import { JSON_LIMITS } from '../../trust/parse-json.ts'
import { type NodeSnapshot, type NodeState, snapshotShape } from '../../volumes/snapshot.ts'
import { DocumentFrame } from './document-frame.ts'

/** Packed or not. A table of 100,000 mounts and a tree of as many entries make about 60 MB. */
const MAX_BYTES = JSON_LIMITS.maxBytes

/** The kernel's own limit is 100,000 mounts, which take 26 MB. */
const MAX_MOUNT_TABLE = 48 * 1024 * 1024
const MAX_MOUNTS = 400_000

/** 406 MB less the 66 MB for a second copy of the mount table, at 40 bytes more for each line. */
const MAX_MEMORY = 340_000_000

/** Bytes that come in pieces are held twice, and some receive buffers are not garbage-collected yet. */
const OF_PIECES = 1.25

const LARGE = 1024 * 1024

const frame = new DocumentFrame('NodeSnapshot', { maxBytes: MAX_BYTES, pipeMs: 50_000 })

/**
 * A node as a snapshot shows it. Sections that the snapshot lacks stay absent: the plan then says what it cannot know.
 *
 * @throws VolctlError one clear line on what is wrong with the file
 */
export async function readSnapshot(path: string, pipeMs?: number): Promise<NodeState> {
  const { bytes, pieces } = await frame.read(path, path, pipeMs)
  const snapshot = parseSnapshot(bytes, path, pieces ? bytes.length * OF_PIECES : 0)
  return { snapshot, mounts: parseMountinfo(snapshot.mountinfo ?? '') }
}

/**
 * @param bytes are let go: nobody has them afterwards
 * @param name what messages call it
 * @param held other bytes of memory that reading it has taken
 */
export function parseSnapshot(bytes: Buffer, name: string, held = 0): NodeSnapshot {
  const unpacked = frame.unpacked(bytes, name)
  // The compressed bytes stay in memory meanwhile.
  const maxMemory = MAX_MEMORY - held - (unpacked === bytes ? 0 : bytes.length)
  const document = frame.parsed(unpacked, name, { maxBytes: MAX_BYTES, maxMemory })
  // They would stay until the mount table is taken apart. Small ones may be in a buffer that others share.
  if (unpacked.length > LARGE) (unpacked.buffer as ArrayBuffer).transfer(0)
  frame.requireHead(document, name)
  const snapshot = frame.shaped(snapshotShape, document, name)
  requireBoundedTable(snapshot.mountinfo ?? '', name)
  return snapshot
}

function requireBoundedTable(table: string, name: string): void {
  if (table.length > MAX_MOUNT_TABLE) {
    throw frame.damaged('FileDamaged.bytes', { name, most: MAX_MOUNT_TABLE })
  }
  let lines = 0
  for (let at = table.indexOf('\n'); at !== -1; at = table.indexOf('\n', at + 1)) {
    if (++lines > MAX_MOUNTS) {
      throw frame.damaged('FileDamaged.lines', { name, most: MAX_MOUNTS })
    }
  }
}

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
    const hint = 'Give a plain file in an existing, writable directory with free space; or "-" for standard output.'
    throw frame.notWritten(name, error, hint)
  }
}
