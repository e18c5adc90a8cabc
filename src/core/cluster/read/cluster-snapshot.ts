/**
 * A cluster in a file: a line of JSON for what is true of the whole, then a line for each record, `{"pods": {…}}`, then the line
 * `{"end": N}` with their number. A cluster of 150,000 pods is some 60 MB; a single document of that size would take many times
 * the memory to read.
 */

import { DocumentFrame } from '../../plan/documents/document-frame.ts'
import { writeSnapshotFile } from '../../plan/documents/snapshot-file.ts'
import type { Shape } from '../../trust/shape.ts'
import {
  type ClusterState,
  doubtTwice,
  RECORD_LISTS,
  RECORDS,
  type RecordList,
  type SnapshotHead,
  snapshotHead,
} from '../model/cluster-state.ts'

/** Above what the largest cluster makes. */
const MAX_BYTES = 400 * 1024 * 1024
const MAX_LINE = { maxBytes: 4 * 1024 * 1024, maxValues: 200_000 }
const NEWLINE = 10

const frame = new DocumentFrame('ClusterSnapshot', { maxBytes: MAX_BYTES, pipeMs: 120_000 })

/** The lines of a snapshot, each with its newline. */
export function* clusterSnapshotLines(state: ClusterState): Generator<string> {
  const head = Object.fromEntries(Object.entries(state).filter(([key]) => !RECORD_LISTS.includes(key as RecordList)))
  yield `${JSON.stringify(head)}\n`
  let records = 0
  for (const list of RECORD_LISTS) {
    for (const record of state[list]) {
      records++
      yield `${JSON.stringify({ [list]: record })}\n`
    }
  }
  yield `${JSON.stringify({ end: records })}\n`
}

/** Writes a snapshot: whole or not at all, mode 0600, gzipped if the name ends in .gz. @throws VolctlError NotWritten */
export function writeClusterSnapshot(state: ClusterState, path: string, name = path): void {
  const bytes = Buffer.concat(Array.from(clusterSnapshotLines(state), (line) => Buffer.from(line)))
  writeSnapshotFile(bytes, path, name, { level: 1 })
}

/** @throws VolctlError one clear line on what is wrong with the file */
export async function readClusterSnapshot(path: string): Promise<ClusterState> {
  const { bytes } = await frame.read(path)
  return parseClusterSnapshot(bytes, path)
}

/** @param name what messages call it */
export function parseClusterSnapshot(bytes: Buffer, name: string): ClusterState {
  const lists = Object.fromEntries(RECORD_LISTS.map((list) => [list, [] as unknown[]])) as Record<RecordList, unknown[]>
  let head: SnapshotHead | undefined
  let records = 0
  let end: unknown
  for (const [number, line] of linesOf(frame.unpacked(bytes, name))) {
    const value = frame.parsed(line, name, MAX_LINE, `line ${number}`)
    if (head === undefined) {
      frame.requireHead(value, name)
      head = frame.shaped(snapshotHead, value, name)
      continue
    }
    const [list, record] = Object.entries(value)[0] ?? []
    if (list === 'end') {
      end = record
      break
    }
    // Lines of later versions are left out, but counted.
    records++
    if (list !== undefined && Object.hasOwn(RECORDS, list)) {
      const shape = RECORDS[list as RecordList] as Shape<unknown>
      lists[list as RecordList].push(frame.shaped(shape, record, name, `line ${number}: ${list}`))
    }
  }
  if (head === undefined) throw frame.damaged('FileDamaged.empty', { name, part: 'the file' })
  // A list without its end would show pods and attachments as absent (S3).
  if (end !== records) throw frame.damaged('FileDamaged.cutOff', { name, part: 'the file' })
  return doubtTwice({ ...head, ...lists } as ClusterState)
}

function* linesOf(bytes: Buffer): Generator<readonly [number, Buffer]> {
  let number = 0
  for (let from = 0; from < bytes.length; ) {
    const at = bytes.indexOf(NEWLINE, from)
    const to = at === -1 ? bytes.length : at
    number++
    if (to > from) yield [number, bytes.subarray(from, to)]
    from = to + 1
  }
}
