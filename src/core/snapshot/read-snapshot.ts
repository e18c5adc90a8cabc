import { parseDocument, shownField } from '../json/parse-document.ts'
import { ShapeError } from '../json/shape.ts'
import type { NodeState } from '../model/node-state.ts'
import { type NodeSnapshot, snapshotShape } from '../model/snapshot.ts'
import { parseMountinfo } from '../mountinfo/parse-mountinfo.ts'
import { JSON_LIMITS } from '../trust/parse-json.ts'
import { damagedSnapshot, readSnapshotBytes, snapshotKind, unpackedSnapshot } from './snapshot-bytes.ts'

const VERSION = 'volctl.io/v1'
const KIND = 'NodeSnapshot'

/** Packed or not. A table of 100,000 mounts and a tree of as many entries make about 60 MB. */
const MAX_BYTES = JSON_LIMITS.maxBytes

/** The kernel's own limit is 100,000 mounts, which take 26 MB. */
const MAX_MOUNT_TABLE = 48 * 1024 * 1024
const MAX_MOUNTS = 400_000

/** 406 MB less the 66 MB for a second copy of the mount table, at 40 bytes more for each line. */
const MAX_MEMORY = 340_000_000

/** Bytes that come in pieces are held twice, and some receive buffers are not garbage-collected yet. */
const OF_PIECES = 1.25

/** From the first look at a pipe to its end. */
const PIPE_MS = 50_000

const damaged = damagedSnapshot('snapshot', 'volctl snapshot -o FILE')

/**
 * A node as a snapshot shows it. Sections that the snapshot lacks stay absent: the plan then says what it cannot know.
 *
 * @throws VolctlError one clear line on what is wrong with the file
 */
export async function readSnapshot(path: string, pipeMs = PIPE_MS): Promise<NodeState> {
  const { bytes, pieces } = await readSnapshotBytes(path, { maxBytes: MAX_BYTES, pipeMs }, damaged)
  const snapshot = parseSnapshot(bytes, path, pieces ? bytes.length * OF_PIECES : 0)
  return { snapshot, mounts: parseMountinfo(snapshot.mountinfo ?? '') }
}

const DEFECTS = { CutOff: 'SnapshotTruncated', NotJson: 'SnapshotNotJson', TooLarge: 'SnapshotTooLarge' } as const

/**
 * @param name what messages call it
 * @param held other bytes of memory that reading it has taken
 */
export function parseSnapshot(bytes: Buffer, name: string, held = 0): NodeSnapshot {
  const unpacked = unpackedSnapshot(bytes, MAX_BYTES, name, damaged)
  // The compressed bytes stay in memory meanwhile.
  const maxMemory = MAX_MEMORY - held - (unpacked === bytes ? 0 : bytes.length)
  const parsed = parseDocument(unpacked, { maxBytes: MAX_BYTES, maxMemory })
  // Each of its lines is JSON, and the whole is not.
  if (snapshotKind(unpacked) === 'ClusterSnapshot') {
    const hint = 'Add --cluster; or take one of this node: volctl snapshot -o FILE'
    throw damaged(name, 'NotASnapshot', 'it is of a cluster, not of a node', hint)
  }
  if ('defect' in parsed) throw damaged(name, DEFECTS[parsed.defect], parsed.why, undefined, parsed.cause)
  const { apiVersion, kind } = parsed.document
  if (kind !== KIND) {
    throw damaged(
      name,
      'NotASnapshot',
      `kind is ${shownField(kind)}, not ${KIND}`,
      'Write one with: volctl snapshot -o FILE',
    )
  }
  if (apiVersion !== VERSION) {
    throw damaged(
      name,
      'SnapshotVersion',
      `apiVersion is ${shownField(apiVersion)}; this volctl reads ${VERSION}`,
      'Use the volctl that wrote it, or write a new snapshot with this one.',
    )
  }
  const snapshot = shaped(parsed.document, name)
  requireBoundedTable(snapshot.mountinfo ?? '', name)
  return snapshot
}

function requireBoundedTable(table: string, name: string): void {
  if (table.length > MAX_MOUNT_TABLE) {
    throw damaged(name, 'SnapshotTooLarge', `the mount table is larger than ${MAX_MOUNT_TABLE} bytes`)
  }
  let lines = 0
  for (let at = table.indexOf('\n'); at !== -1; at = table.indexOf('\n', at + 1)) {
    if (++lines > MAX_MOUNTS) {
      throw damaged(name, 'SnapshotTooLarge', `the mount table has more than ${MAX_MOUNTS} lines`)
    }
  }
}

function shaped(document: object, name: string): NodeSnapshot {
  try {
    return snapshotShape(document, '')
  } catch (error) {
    if (error instanceof ShapeError) throw damaged(name, 'SnapshotDamaged', error.message)
    throw error
  }
}
