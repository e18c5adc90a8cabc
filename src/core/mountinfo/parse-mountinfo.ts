import { append } from '../lang/append.ts'
import { Covers } from './covers.ts'
import { decodeOctal } from './decode-octal.ts'
import { undeletedPath } from './deleted.ts'
import { MountRecord } from './mount-record.ts'
import type { MountInfo, MountTable } from './mount-table.ts'
import { MountText } from './mount-text.ts'
import { deviceKey, type MountColumns, scanLines } from './scan-lines.ts'

const SLASH = 0x2f
const BACKSLASH = 0x5c
const NO_MOUNTS: readonly MountRecord[] = []
const ESCAPED_DELETED = '\\040(deleted)'

/**
 * Parses /proc/PID/mountinfo whole and exactly (P107-P109, P115).
 *
 * One damaged line fails the whole table: a mount that volctl cannot read might be one that it must not touch. Indexes by path,
 * device and id are built when they are first used.
 *
 * @throws VolctlError MountinfoDamaged, naming the line
 */
export function parseMountinfo(text: string | Buffer): MountTable {
  return new ColumnMountTable(text)
}

/** A list only where mounts are stacked: 100,000 lists would cost more than the index. */
type Stack = MountRecord | MountRecord[]

class ColumnMountTable implements MountTable {
  readonly #columns: MountColumns
  readonly #records: (MountRecord | undefined)[] = []
  readonly #text: MountText
  #byDirectory: ReadonlyMap<string, ReadonlyMap<string, Stack>> | undefined
  /** Directories below which something is mounted. */
  #above: ReadonlySet<string> | undefined
  #byDevice: ReadonlyMap<number, readonly number[]> | undefined
  #byId: ReadonlyMap<number, number> | undefined
  #covers: Covers | undefined

  constructor(text: string | Buffer) {
    this.#columns = scanLines(typeof text === 'string' ? Buffer.from(text) : text)
    this.#text = new MountText(this.#columns.bytes, typeof text === 'string' ? text : undefined)
  }

  get text(): string {
    return this.#text.whole()
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
    const found = this.#directories()
      .get(directoryOf(path))
      ?.get(path.slice(path.lastIndexOf('/') + 1))
    if (found === undefined) return NO_MOUNTS
    return Array.isArray(found) ? found : [found]
  }

  reached(path: string): readonly MountInfo[] {
    const all = this.at(path)
    if (all.length === 0) return all
    this.#covers ??= new Covers(this)
    return this.#covers.reached(all)
  }

  top(path: string): MountInfo | undefined {
    return this.reached(path).at(-1)
  }

  childrenOf(directory: string): ((name: string) => MountInfo | undefined) | undefined {
    const names = this.#directories().get(directory === '/' ? '' : directory)
    if (names === undefined) return undefined
    return (name) => {
      const found = names.get(name)
      return Array.isArray(found) ? found.at(-1) : found
    }
  }

  isAbove(directory: string): boolean {
    this.#above ??= withParents(this.#directories().keys())
    return this.#above.has(directory === '/' ? '' : directory)
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
   * Mounts by the directory of the mount point, and its name there. A mount point that ends in " (deleted)" is also found by
   * the path without that ending (P115): the directory may have been removed, or its name may really end like that.
   */
  #directories(): ReadonlyMap<string, ReadonlyMap<string, Stack>> {
    if (this.#byDirectory !== undefined) return this.#byDirectory
    const directories = new Map<string, Map<string, Stack>>()
    for (let row = 0; row < this.#columns.size; row++) {
      const record = this.#record(row)
      const path = record.mountPoint
      const directory = directoryOf(path)
      let names = directories.get(directory)
      if (names === undefined) {
        names = new Map()
        directories.set(directory, names)
      }
      const name = path.slice(path.lastIndexOf('/') + 1)
      stack(names, name, record)
      const plain = undeletedPath(name)
      if (plain !== name) stack(names, plain, record)
    }
    this.#byDirectory = directories
    return directories
  }

  #record(row: number): MountRecord {
    const known = this.#records[row]
    if (known !== undefined) return known
    const record = new MountRecord(this.#columns, this.#text, row)
    this.#records[row] = record
    return record
  }
}

/** "" for the root directory and what is directly in it; "." for a path that is not absolute. */
function directoryOf(path: string): string {
  const slash = path.lastIndexOf('/')
  return slash === -1 ? '.' : path.slice(0, slash)
}

/** The directories and all their parents. */
function withParents(directories: Iterable<string>): ReadonlySet<string> {
  const all = new Set<string>()
  for (const directory of directories) {
    for (let at = directory; !all.has(at); at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) all.add(at)
  }
  return all
}

function stack(names: Map<string, Stack>, name: string, record: MountRecord): void {
  const there = names.get(name)
  if (there === undefined) names.set(name, record)
  else if (Array.isArray(there)) there.push(record)
  else names.set(name, [there, record])
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

/** If a damaged table contains an id twice, the newer mount counts. */
function rowById({ id, size }: MountColumns): ReadonlyMap<number, number> {
  const rows = new Map<number, number>()
  for (let row = 0; row < size; row++) rows.set(id[row] ?? -1, row)
  return rows
}
