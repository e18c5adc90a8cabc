import { append } from '../append.ts'
import { decodeOctal } from './decode-octal.ts'
import { MountRecord } from './mount-record.ts'
import type { MountInfo, MountTable } from './mount-table.ts'
import { deviceKey, type MountColumns, scanLines } from './scan-lines.ts'

const SLASH = 0x2f
const BACKSLASH = 0x5c
const DELETED = ' (deleted)'
const NO_MOUNTS: readonly MountRecord[] = []
const ESCAPED_DELETED = '\\040(deleted)'

/**
 * Parses /proc/PID/mountinfo whole and exactly (P107-P109, P115).
 *
 * One damaged line fails the whole table: a mount that volctl cannot read might be the one it must not touch.
 * Indexes by path, device and id are built when first asked for.
 *
 * @throws VolctlError MountinfoDamaged, naming the line
 */
export function parseMountinfo(text: string | Buffer): MountTable {
  return new ColumnMountTable(text)
}

class ColumnMountTable implements MountTable {
  readonly #columns: MountColumns
  readonly #records: (MountRecord | undefined)[] = []
  #text: string | undefined
  #byPath: ReadonlyMap<string, MountRecord | readonly MountRecord[]> | undefined
  #byDevice: ReadonlyMap<number, readonly number[]> | undefined
  #byId: ReadonlyMap<number, number> | undefined

  constructor(text: string | Buffer) {
    if (typeof text === 'string') this.#text = text
    this.#columns = scanLines(typeof text === 'string' ? Buffer.from(text) : text)
  }

  get text(): string {
    this.#text ??= this.#columns.bytes.toString('utf8')
    return this.#text
  }

  get size(): number {
    return this.#columns.size
  }

  under(prefix: string): readonly MountInfo[] {
    const base = prefix.replace(/\/+$/, '')
    const wanted = Buffer.from(base)
    const { bytes, size, mountPointStart, mountPointEnd } = this.#columns
    const found: MountInfo[] = []
    for (let row = 0; row < size; row++) {
      const start = mountPointStart[row] ?? 0
      const end = mountPointEnd[row] ?? 0
      if (liesUnder(bytes, start, end, wanted, base)) found.push(this.#record(row))
    }
    return found
  }

  at(path: string): readonly MountInfo[] {
    this.#byPath ??= this.#recordsByPath()
    const found = this.#byPath.get(path)
    if (found === undefined) return NO_MOUNTS
    return Array.isArray(found) ? found : [found as MountRecord]
  }

  ofDevice(dev: string): readonly MountInfo[] {
    this.#byDevice ??= rowsByDevice(this.#columns)
    const [, major, minor] = /^(\d+):(\d+)$/.exec(dev) ?? []
    if (major === undefined || minor === undefined) return []
    return (this.#byDevice.get(deviceKey(Number(major), Number(minor))) ?? []).map((row) => this.#record(row))
  }

  byId(id: number): MountInfo | undefined {
    this.#byId ??= rowById(this.#columns)
    const row = this.#byId.get(id)
    return row === undefined ? undefined : this.#record(row)
  }

  /**
   * A mount point that ends in " (deleted)" is found under the path without it as well (P115): the kernel may mean
   * that the directory was removed, and a file may be called so.
   */
  #recordsByPath(): ReadonlyMap<string, MountRecord | readonly MountRecord[]> {
    // A list only where mounts are stacked: one for each of 100,000 would cost more than the index.
    const records = new Map<string, MountRecord | MountRecord[]>()
    const add = (path: string, record: MountRecord): void => {
      const there = records.get(path)
      if (there === undefined) records.set(path, record)
      else if (Array.isArray(there)) there.push(record)
      else records.set(path, [there, record])
    }
    for (let row = 0; row < this.#columns.size; row++) {
      const record = this.#record(row)
      const path = record.mountPoint
      add(path, record)
      if (path.endsWith(DELETED)) add(path.slice(0, -DELETED.length), record)
    }
    return records
  }

  #record(row: number): MountRecord {
    const known = this.#records[row]
    if (known !== undefined) return known
    const record = new MountRecord(this.#columns, row)
    this.#records[row] = record
    return record
  }
}

/** Compares raw bytes where the path has no escape, decoded text where it has one. */
function liesUnder(bytes: Buffer, start: number, end: number, wanted: Buffer, base: string): boolean {
  const length = wanted.length
  for (let i = 0; i < length; i++) {
    const byte = bytes[start + i]
    if (byte === BACKSLASH) return decodedLiesUnder(bytes, start, end, base)
    if (start + i >= end || byte !== wanted[i]) return false
  }
  const next = start + length
  if (next === end || bytes[next] === SLASH) return true
  return bytes[next] === BACKSLASH && bytes.toString('latin1', next, end) === ESCAPED_DELETED
}

function decodedLiesUnder(bytes: Buffer, start: number, end: number, base: string): boolean {
  const path = decodeOctal(bytes, start, end)
  return path === base || path === `${base} (deleted)` || path.startsWith(`${base}/`)
}

function rowsByDevice({ dev, size }: MountColumns): ReadonlyMap<number, readonly number[]> {
  const rows = new Map<number, number[]>()
  for (let row = 0; row < size; row++) {
    append(rows, dev[row] ?? 0, row)
  }
  return rows
}

/** Where a damaged or joined table has an id twice, the newer mount stands for it. */
function rowById({ id, size }: MountColumns): ReadonlyMap<number, number> {
  const rows = new Map<number, number>()
  for (let row = 0; row < size; row++) rows.set(id[row] ?? -1, row)
  return rows
}
