/**
 * A cluster in a file: a line of JSON for what is true of the whole, then a line for each record, `{"pods": {…}}`, then the line
 * `{"end": N}` with their number. A cluster of 150,000 pods is some 60 MB; a single document of that size would take many times
 * the memory to read.
 */
import { gzipSync } from 'node:zlib'
import { errorMessage } from '../../errors/errors.ts'
import { replaceFile } from '../../files/replace-file.ts'
import { type Shape, ShapeError } from '../../json/shape.ts'
import { damagedSnapshot, readSnapshotBytes, snapshotKind, unpackedSnapshot } from '../../snapshot/snapshot-bytes.ts'
import { snapshotNotWritten } from '../../snapshot/write-snapshot.ts'
import { JsonLimitError, parseJson } from '../../trust/parse-json.ts'
import {
  type ClusterState,
  RECORD_LISTS,
  RECORDS,
  type RecordList,
  type SnapshotHead,
  snapshotHead,
} from '../model/cluster-state.ts'

/** Above what the largest cluster makes. */
const MAX_BYTES = 400 * 1024 * 1024
const MAX_LINE = { maxBytes: 4 * 1024 * 1024, maxValues: 200_000 }
const PIPE_MS = 120_000
const NEWLINE = 10

const damaged = damagedSnapshot('cluster snapshot', 'volctl snapshot --cluster -o FILE')

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

/** Writes a snapshot: whole or not at all, mode 0600, gzipped if the name ends in .gz. @throws VolctlError SnapshotNotWritten */
export function writeClusterSnapshot(state: ClusterState, path: string, name = path): void {
  const bytes = Buffer.concat(Array.from(clusterSnapshotLines(state), (line) => Buffer.from(line)))
  try {
    replaceFile(path, path.endsWith('.gz') ? gzipSync(bytes, { level: 1 }) : bytes)
  } catch (error) {
    throw snapshotNotWritten(name, error)
  }
}

/** @throws VolctlError one clear line on what is wrong with the file */
export async function readClusterSnapshot(path: string): Promise<ClusterState> {
  const { bytes } = await readSnapshotBytes(path, { maxBytes: MAX_BYTES, pipeMs: PIPE_MS }, damaged)
  return parseClusterSnapshot(bytes, path)
}

/** @param name what messages call it */
export function parseClusterSnapshot(bytes: Buffer, name: string): ClusterState {
  const unpacked = unpackedSnapshot(bytes, MAX_BYTES, name, damaged)
  // It may be laid out in many lines.
  if (snapshotKind(unpacked) === 'NodeSnapshot') {
    const hint = 'Leave out --cluster; or take one of the cluster: volctl snapshot --cluster -o FILE'
    throw damaged(name, 'NotASnapshot', 'it is of a node, not of a cluster', hint)
  }
  const lists = Object.fromEntries(RECORD_LISTS.map((list) => [list, [] as unknown[]])) as Record<RecordList, unknown[]>
  let head: SnapshotHead | undefined
  let records = 0
  let end: unknown
  for (const [number, line] of linesOf(unpacked)) {
    const value = parsedLine(line, name, number)
    if (head === undefined) {
      requireKind(value, name)
      head = shaped(snapshotHead, value, '', { name, number })
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
      lists[list as RecordList].push(shaped(shape, record, list, { name, number }))
    }
  }
  if (head === undefined) throw damaged(name, 'SnapshotTruncated', 'the file is empty')
  // A list without its end would show pods and attachments as absent (S3).
  if (end !== records) throw damaged(name, 'SnapshotTruncated', 'the file is cut off')
  return { ...head, ...lists } as ClusterState
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

function parsedLine(line: Buffer, name: string, number: number): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = parseJson(line, MAX_LINE)
  } catch (error) {
    if (error instanceof JsonLimitError) throw damaged(name, 'SnapshotTooLarge', `line ${number} ${error.message}`)
    if (number === 1) throw damaged(name, 'SnapshotNotJson', `line 1 is not JSON: ${errorMessage(error).slice(0, 120)}`)
    throw damaged(name, 'SnapshotDamaged', `line ${number} is not JSON, or is cut off`)
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw damaged(name, 'SnapshotNotJson', `line ${number} is not a JSON object`)
}

function requireKind({ apiVersion, kind }: Readonly<Record<string, unknown>>, name: string): void {
  if (kind !== 'ClusterSnapshot') throw damaged(name, 'NotASnapshot', 'it is no ClusterSnapshot')
  if (apiVersion !== 'volctl.io/v1') {
    const hint = 'Use the volctl that wrote it, or write a new snapshot with this one.'
    throw damaged(name, 'SnapshotVersion', 'another version of volctl wrote it; this one reads volctl.io/v1', hint)
  }
}

function shaped<T>(shape: Shape<T>, value: unknown, at: string, where: { name: string; number: number }): T {
  try {
    return shape(value, at)
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error
    throw damaged(where.name, 'SnapshotDamaged', `line ${where.number}: ${error.message}`)
  }
}
