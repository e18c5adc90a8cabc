import { append } from '../base/append.ts'
import { Covers } from './covers.ts'
import { MountPaths } from './mount-paths.ts'
import { MountPiece, pieceOf } from './mount-piece.ts'
import type { ChildMounts, MountInfo, MountsBelow, MountTable } from './mount-table.ts'
import { RowsBelow } from './mounts-below.ts'
import { deviceKey } from './scan-lines.ts'

const NEWLINE = 0x0a
const NO_MOUNTS: readonly MountRecord[] = []
const ESCAPED_DELETED = '\\040(deleted)'
/** As many questions are answered by a search, before an index of a hundred thousand mounts is worth its making. */
const FEW = 64
/** Bytes of a table that is given whole. */
const PIECE = 256 * 1024

/**
 * Parses /proc/PID/mountinfo whole and exactly (P107-P109, P115).
 *
 * One damaged line fails the whole table: a mount that volctl cannot read might be one that it must not touch. Indexes by path,
 * device and id are built when they are first used.
 *
 * @throws VolctlError NodeUnreadable, naming the line
 */
export function parseMountinfo(text: string | Buffer): MountTable {
  return parsePieces(typeof text === 'string' ? cutText(text) : cut(text))
}

/**
 * The same of a table that is read in pieces, so that it need not be in memory twice.
 *
 * @param pieces whole lines each; a piece may be overwritten when the next one is asked for
 * @throws VolctlError NodeUnreadable, naming the line
 */
export function parsePieces(pieces: Iterable<Buffer | string>): MountTable {
  const parsed = new Pieces()
  for (const piece of pieces) parsed.add(piece)
  return new PieceTable(parsed)
}

class Pieces {
  readonly all: MountPiece[] = []
  rows = 0
  #line = 1

  add(given: Buffer | string): void {
    const piece =
      typeof given === 'string'
        ? new MountPiece(Buffer.from(given), this.rows, this.#line, given)
        : new MountPiece(given, this.rows, this.#line)
    this.all.push(piece)
    this.rows += piece.columns.size
    this.#line += piece.columns.lines
  }
}

/** Slices share the memory of the whole, which a snapshot keeps. */
function* cutText(text: string): Iterable<string> {
  for (let from = 0; from < text.length; ) {
    const newline = from + PIECE < text.length ? text.indexOf('\n', from + PIECE) : -1
    const end = newline === -1 ? text.length : newline + 1
    yield text.slice(from, end)
    from = end
  }
}

function* cut(bytes: Buffer): Iterable<Buffer> {
  for (let from = 0; from < bytes.length; ) {
    const newline = from + PIECE < bytes.length ? bytes.indexOf(NEWLINE, from + PIECE) : -1
    const end = newline === -1 ? bytes.length : newline + 1
    yield bytes.subarray(from, end)
    from = end
  }
}

class PieceTable implements MountTable {
  readonly size: number
  readonly #pieces: readonly MountPiece[]
  readonly #records: (MountRecord | undefined)[] = []
  #paths: MountPaths | undefined
  #byDevice: ReadonlyMap<number, readonly number[]> | undefined
  #byId: ReadonlyMap<number, number> | undefined
  /** How often there was no index yet. */
  #asked = 0
  #covers: Covers | undefined
  /** Of stacks, which may be high. */
  readonly #reached = new WeakMap<readonly number[], readonly MountInfo[]>()

  constructor({ all, rows }: Pieces) {
    this.#pieces = all
    this.size = rows
  }

  get text(): string {
    const all = this.#pieces.map(({ text }) => text).join('')
    return this.#pieces.every((piece) => piece.isAscii) ? all : Buffer.from(all, 'latin1').toString('utf8')
  }

  under(prefix: string): readonly MountInfo[] {
    const base = prefix.replace(/\/+$/, '')
    const wanted = Buffer.from(base).toString('latin1')
    const found: MountInfo[] = []
    for (const piece of this.#pieces) {
      for (let row = 0; row < piece.columns.size; row++) {
        if (liesUnder(piece, row, wanted, base)) found.push(this.#recordOf(piece, piece.firstRow + row))
      }
    }
    return found
  }

  notBelow(directory: string): readonly MountInfo[] {
    const own = directory === '/' ? '' : directory
    const prefix = `${own}/`
    const elsewhere = this.#byPath()
      .directories()
      .filter(({ path }) => path !== own && !path.startsWith(prefix))
    return this.#recordsOf([...elsewhere.flatMap(({ rows }) => rows)].sort((a, b) => a - b))
  }

  below(directory: string): MountsBelow {
    const nameOf = (row: number): string => {
      const piece = pieceOf(this.#pieces, row)
      return piece.name(row - piece.firstRow)
    }
    return new RowsBelow(this.#byPath(), directory === '/' ? '' : directory, (rows) => this.#recordsOf(rows), nameOf)
  }

  at(path: string): readonly MountInfo[] {
    return this.#recordsOf(this.#byPath().at(path))
  }

  reached(path: string): readonly MountInfo[] {
    return this.#reachedOf(this.#byPath().at(path))
  }

  top(path: string): MountInfo | undefined {
    return this.reached(path).at(-1)
  }

  childrenOf(directory: string): ChildMounts | undefined {
    const names = this.#byPath().in(directory === '/' ? '' : directory)
    if (names === undefined) return undefined
    this.#covers ??= new Covers(this)
    const covers = this.#covers.in(directory)
    const isHidden = (row: number): boolean => {
      if (covers.size === 0) return false
      const piece = pieceOf(this.#pieces, row)
      return covers.has(piece.columns.parentId[row - piece.firstRow] ?? -1)
    }
    const top = (rows: readonly number[]): MountInfo | undefined => this.#reachedOf(rows).at(-1)
    return {
      has: (name) => {
        const found = names(name)
        if (typeof found === 'number') return !isHidden(found)
        return found !== undefined && top(found) !== undefined
      },
      get: (name) => {
        const found = names(name)
        if (typeof found === 'number') return isHidden(found) ? undefined : this.#record(found)
        return found && top(found)
      },
    }
  }

  isAbove(directory: string): boolean {
    return this.#byPath().isAbove(directory === '/' ? '' : directory)
  }

  ofDevice(dev: string): readonly MountInfo[] {
    const [, major, minor] = /^(\d+):(\d+)$/.exec(dev) ?? []
    if (major === undefined || minor === undefined) return []
    const key = deviceKey(Number(major), Number(minor))
    if (this.#byDevice === undefined && this.#asked++ < FEW) return this.#recordsOf(rowsOfDevice(this.#pieces, key))
    this.#byDevice ??= rowsByDevice(this.#pieces)
    return this.#recordsOf(this.#byDevice.get(key) ?? [])
  }

  ofTypes(isMeant: (fsType: string) => boolean): readonly MountInfo[] {
    const asked = new Map<string, boolean>()
    const found: MountInfo[] = []
    for (const piece of this.#pieces) {
      const { size, type, types } = piece.columns
      const meant = types.map((fsType) => {
        const known = asked.get(fsType) ?? isMeant(fsType)
        asked.set(fsType, known)
        return known
      })
      if (!meant.includes(true)) continue
      for (let row = 0; row < size; row++) {
        if (meant[type[row] ?? 0]) found.push(this.#recordOf(piece, piece.firstRow + row))
      }
    }
    return found
  }

  byId(id: number): MountInfo | undefined {
    if (this.#byId === undefined && this.#asked++ >= FEW) this.#byId = rowById(this.#pieces)
    const row = this.#byId === undefined ? rowOfId(this.#pieces, id) : this.#byId.get(id)
    return row === undefined ? undefined : this.#record(row)
  }

  #byPath(): MountPaths {
    if (this.#paths === undefined) {
      this.#paths = new MountPaths(this.#pieces)
    }
    return this.#paths
  }

  /** @param rows on one path, as the index by path has them */
  #reachedOf(rows: readonly number[]): readonly MountInfo[] {
    if (rows.length === 0) return NO_MOUNTS
    const known = this.#reached.get(rows)
    if (known !== undefined) return known
    this.#covers ??= new Covers(this)
    const reached = this.#covers.reached(this.#recordsOf(rows))
    if (rows.length > 1) this.#reached.set(rows, reached)
    return reached
  }

  #recordsOf(rows: readonly number[]): readonly MountInfo[] {
    return rows.length === 0 ? NO_MOUNTS : rows.map((row) => this.#record(row))
  }

  #record(row: number): MountRecord {
    return this.#records[row] ?? this.#recordOf(pieceOf(this.#pieces, row), row)
  }

  #recordOf(piece: MountPiece, row: number): MountRecord {
    const known = this.#records[row]
    if (known !== undefined) return known
    const record = new MountRecord(piece, row)
    this.#records[row] = record
    return record
  }
}

/** Compares raw bytes where the path has no escape, decoded text where it has one. */
function liesUnder(piece: MountPiece, row: number, wanted: string, base: string): boolean {
  const { mountPointStart, mountPointEnd, isPlain } = piece.columns
  const start = mountPointStart[row] ?? 0
  const end = mountPointEnd[row] ?? 0
  if (isPlain[row] === 0) return rawLiesUnder(piece, start, end, wanted, base)
  const next = start + wanted.length
  return next <= end && piece.text.startsWith(wanted, start) && (next === end || piece.text[next] === '/')
}

function rawLiesUnder(piece: MountPiece, start: number, end: number, wanted: string, base: string): boolean {
  const raw = piece.text.slice(start, end)
  const backslash = raw.indexOf('\\')
  if (backslash !== -1 && backslash < wanted.length) {
    if (!wanted.startsWith(raw.slice(0, backslash))) return false
    const path = piece.decoded(raw)
    return path === base || path === `${base} (deleted)` || path.startsWith(`${base}/`)
  }
  if (!raw.startsWith(wanted)) return false
  const rest = raw.slice(wanted.length)
  return rest === '' || rest.startsWith('/') || rest === ESCAPED_DELETED
}

function rowsByDevice(pieces: readonly MountPiece[]): ReadonlyMap<number, readonly number[]> {
  const rows = new Map<number, number[]>()
  for (const { columns, firstRow } of pieces) {
    for (let row = 0; row < columns.size; row++) append(rows, columns.dev[row] ?? 0, firstRow + row)
  }
  return rows
}

function rowsOfDevice(pieces: readonly MountPiece[], key: number): readonly number[] {
  const rows: number[] = []
  for (const { columns, firstRow } of pieces) {
    for (let row = columns.dev.indexOf(key); row !== -1; row = columns.dev.indexOf(key, row + 1)) {
      rows.push(firstRow + row)
    }
  }
  return rows
}

/** If a damaged table contains an id twice, the newer mount counts. */
function rowOfId(pieces: readonly MountPiece[], id: number): number | undefined {
  const piece = pieces.findLast(({ columns }) => columns.id.includes(id))
  return piece && piece.firstRow + piece.columns.id.lastIndexOf(id)
}

/** As above. */
function rowById(pieces: readonly MountPiece[]): ReadonlyMap<number, number> {
  const rows = new Map<number, number>()
  for (const { columns, firstRow } of pieces) {
    for (let row = 0; row < columns.size; row++) rows.set(columns.id[row] ?? -1, firstRow + row)
  }
  return rows
}

const SEPARATOR = ' - '

/** One row of a piece of the table as a MountInfo. Texts are decoded when they are first used. */
class MountRecord implements MountInfo {
  readonly index: number
  readonly #piece: MountPiece
  #mountPoint: string | undefined
  #root: string | undefined

  /** @param index of a row of the piece, in the whole table */
  constructor(piece: MountPiece, index: number) {
    this.#piece = piece
    this.index = index
  }

  get id(): number {
    return this.#piece.columns.id[this.#row()] ?? -1
  }

  get parentId(): number {
    return this.#piece.columns.parentId[this.#row()] ?? -1
  }

  get mountPoint(): string {
    this.#mountPoint ??= this.#piece.mountPoint(this.#row())
    return this.#mountPoint
  }

  get dev(): string {
    const key = this.#piece.columns.dev[this.#row()] ?? 0
    return `${Math.floor(key / 0x1_0000_0000)}:${key % 0x1_0000_0000}`
  }

  get root(): string {
    this.#root ??= this.#rootText()
    return this.#root
  }

  get options(): readonly string[] {
    return this.#options(this.#head()[0])
  }

  get optionalFields(): readonly string[] {
    return this.#head()
      .slice(1)
      .filter((field) => field.length > 0)
      .map((field) => this.#piece.decoded(field))
  }

  get fsType(): string {
    return this.#piece.fsType(this.#row())
  }

  get source(): string {
    const start = this.#wordEnd(this.#typeStart()) + 1
    return this.#piece.slice(start, this.#wordEnd(start))
  }

  get superOptions(): readonly string[] {
    return this.#options(this.#tail()[2])
  }

  toJSON(): MountInfo {
    const { id, parentId, dev, root, mountPoint, options, optionalFields, fsType, source, superOptions, index } = this
    return { id, parentId, dev, root, mountPoint, options, optionalFields, fsType, source, superOptions, index }
  }

  #row(): number {
    return this.index - this.#piece.firstRow
  }

  #rootText(): string {
    const end = (this.#piece.columns.mountPointStart[this.#row()] ?? 0) - 1
    return this.#piece.slice(this.#piece.text.lastIndexOf(' ', end - 1) + 1, end)
  }

  #typeStart(): number {
    return (this.#piece.columns.separator[this.#row()] ?? 0) + SEPARATOR.length
  }

  #wordEnd(start: number): number {
    const stop = this.#piece.columns.end[this.#row()] ?? 0
    const blank = this.#piece.text.indexOf(' ', start)
    return blank === -1 || blank > stop ? stop : blank
  }

  /** Mount options and optional fields: between the mount point and the separator. */
  #head(): readonly string[] {
    const { mountPointEnd, separator } = this.#piece.columns
    const start = (mountPointEnd[this.#row()] ?? 0) + 1
    return this.#piece.text.slice(start, separator[this.#row()]).split(' ')
  }

  /** Type, source and super options: what follows the separator. An empty source shows as two blanks in a row. */
  #tail(): readonly string[] {
    return this.#piece.text.slice(this.#typeStart(), this.#piece.columns.end[this.#row()]).split(' ')
  }

  /** Decodes after splitting: the kernel writes a comma inside a value as `\\054` (seq_show_option). */
  #options(raw: string | undefined): readonly string[] {
    return splitOptions(raw ?? '').map((option) => this.#piece.decoded(option))
  }
}

/**
 * Splits mount options at the commas outside double quotes (P108): SELinux contexts hold commas
 * (`context="u:r:t:s0:c1,c2"`). The quotes stay in the text; empty elements vanish.
 */
function splitOptions(text: string): readonly string[] {
  if (!text.includes('"')) return text.split(',').filter((option) => option !== '')
  const options: string[] = []
  let quoted = false
  let option = ''
  for (const char of text) {
    if (char === '"') quoted = !quoted
    if (char === ',' && !quoted) {
      if (option !== '') options.push(option)
      option = ''
    } else option += char
  }
  if (option !== '') options.push(option)
  return options
}
