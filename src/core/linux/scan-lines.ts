/**
 * The first pass over /proc/PID/mountinfo: bytes to columns of numbers, no strings.
 *
 *     36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
 *     (1)(2)(3)   (4)   (5)      (6)      (7)   (8) (9)   (10)         (11)
 *
 * (7) may be absent or several words; (10) may be empty (kernels before 5.1), so fields are split at single blanks (P109), and
 * not, as upstream does, at runs of white space. A table of 100,000 mounts is 16 to 26 MB: it is scanned in pieces of whole
 * lines, of a piece only offsets and its text are kept, and a record's fields are decoded when they are used.
 *
 * @see proc_pid_mountinfo(5), rules P107-P109
 */
import { VolctlError } from '../base/errors.ts'
import { decodeOctal } from './decode-octal.ts'

/** One column per fact, one row per line of a piece of the table. Offsets are bytes of the piece. */
export interface MountColumns extends Readonly<Columns> {
  readonly size: number
  /** Lines of the piece, blank ones included. */
  readonly lines: number
  /** Each type once: a table of a hundred thousand mounts has a handful. */
  readonly types: readonly string[]
}

type Columns = ReturnType<typeof columnsFor>

/** Columns with room for so many rows. */
function columnsFor(rows: number) {
  return {
    id: new Int32Array(rows),
    parentId: new Int32Array(rows),
    /** major * 2^32 + minor. */
    dev: new Float64Array(rows),
    end: new Uint32Array(rows),
    mountPointStart: new Uint32Array(rows),
    mountPointEnd: new Uint32Array(rows),
    /** Behind the mount point's last slash. */
    nameStart: new Uint32Array(rows),
    /** Of the mount point's bytes before its last slash (FNV-1a). */
    directoryHash: new Int32Array(rows),
    /** 1: the mount point is an absolute path in ASCII without escapes, so its text is what the kernel wrote. */
    isPlain: new Uint8Array(rows),
    /** Offset of the blank before the lone "-". */
    separator: new Uint32Array(rows),
    /** Position of the file system's type in `types`. */
    type: new Uint16Array(rows),
  }
}

const NEWLINE = 0x0a
const BLANK = 0x20
const DASH = 0x2d
const COLON = 0x3a
const ZERO = 0x30
const SLASH = 0x2f
const BACKSLASH = 0x5c
const ASCII_END = 0x80
const FIRST_HASH = 0x811c9dc5 | 0
const HASH_PRIME = 0x01000193

/** major:minor as one number that identifies a file system. */
export function deviceKey(major: number, minor: number): number {
  return major * 0x1_0000_0000 + minor
}

/** In bytes: numbers, root and mount point of one character each, everything else empty. */
const SHORTEST_LINE = 16
/** Filled line by line, and reused for the next piece: nobody knows beforehand how many lines a piece has. */
let scratch = columnsFor(0)

/**
 * @param bytes whole lines
 * @param firstLine the number of the first one, for messages
 * @throws VolctlError NodeUnreadable, naming the line
 */
export function scanLines(bytes: Buffer, firstLine = 1): MountColumns {
  const most = Math.ceil(bytes.length / SHORTEST_LINE)
  if (scratch.id.length < most) scratch = columnsFor(most)
  const types = new Types(bytes)
  let size = 0
  let line = firstLine - 1
  for (let at = 0; at < bytes.length; at++) {
    line++
    if (bytes[at] === NEWLINE) continue
    at = scanLine(bytes, at, line, scratch, size, types)
    size++
  }
  return { ...copied(scratch, size), size, lines: line - firstLine + 1, types: types.texts }
}

/** The first rows, with no room for more. */
function copied(columns: Columns, rows: number): Columns {
  return {
    id: columns.id.slice(0, rows),
    parentId: columns.parentId.slice(0, rows),
    dev: columns.dev.slice(0, rows),
    end: columns.end.slice(0, rows),
    mountPointStart: columns.mountPointStart.slice(0, rows),
    mountPointEnd: columns.mountPointEnd.slice(0, rows),
    nameStart: columns.nameStart.slice(0, rows),
    directoryHash: columns.directoryHash.slice(0, rows),
    isPlain: columns.isPlain.slice(0, rows),
    separator: columns.separator.slice(0, rows),
    type: columns.type.slice(0, rows),
  }
}

/**
 * One line, in its own function: V8 optimizes what is called often sooner than a long loop.
 *
 * @returns where the line ends
 */
function scanLine(bytes: Buffer, at: number, line: number, into: Columns, row: number, types: Types): number {
  const idEnd = blankAfter(bytes, at, line, 'parent id')
  const parentEnd = blankAfter(bytes, idEnd + 1, line, 'major:minor')
  const devEnd = blankAfter(bytes, parentEnd + 1, line, 'root')
  const rootEnd = blankAfter(bytes, devEnd + 1, line, 'mount point')
  const pathEnd = scanMountPoint(bytes, rootEnd + 1, line, into, row)
  if (devEnd + 1 === rootEnd) throw damaged(line, 'the root is empty')
  if (rootEnd + 1 === pathEnd) throw damaged(line, 'the mount point is empty')
  into.id[row] = decimal(bytes, at, idEnd, line, 'mount id')
  into.parentId[row] = decimal(bytes, idEnd + 1, parentEnd, line, 'parent id')
  into.dev[row] = device(bytes, parentEnd + 1, devEnd, line)
  const dash = loneDash(bytes, pathEnd + 1, line)
  into.separator[row] = dash
  const typeEnd = blankAfter(bytes, dash + 3, line, 'source')
  into.type[row] = types.of(dash + 3, typeEnd)
  let end = blankAfter(bytes, typeEnd + 1, line, 'super options')
  while (end < bytes.length && bytes[end] !== NEWLINE) end++
  into.end[row] = end
  return end
}

/** @returns the blank behind the mount point */
function scanMountPoint(bytes: Buffer, start: number, line: number, into: Columns, row: number): number {
  let hash = FIRST_HASH
  let above = FIRST_HASH
  let plain = bytes[start] === SLASH
  let slash = start - 1
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at] ?? BLANK
    if (byte === SLASH) {
      above = hash
      slash = at
    } else if (byte === BLANK) {
      into.mountPointStart[row] = start
      into.mountPointEnd[row] = at
      into.nameStart[row] = slash + 1
      into.directoryHash[row] = above
      into.isPlain[row] = plain ? 1 : 0
      return at
    } else if (byte === NEWLINE) break
    else if (byte === BACKSLASH || byte >= ASCII_END) plain = false
    hash = Math.imul(hash ^ byte, HASH_PRIME)
  }
  throw endsBefore(line, 'mount options')
}

/** The types of file systems in a piece. Neighbours nearly always have the same one. */
class Types {
  readonly texts: string[] = []
  readonly #bytes: Buffer
  readonly #known = new Map<string, number>()
  #start = 0
  #length = -1
  #latest = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** @returns the position in `texts` of the type between two offsets */
  of(start: number, end: number): number {
    if (end - start === this.#length && this.#isLatest(start)) return this.#latest
    const text = decodeOctal(this.#bytes, start, end)
    let position = this.#known.get(text)
    if (position === undefined) {
      position = this.texts.push(text) - 1
      this.#known.set(text, position)
    }
    this.#start = start
    this.#length = end - start
    this.#latest = position
    return position
  }

  #isLatest(start: number): boolean {
    for (let at = 0; at < this.#length; at++) {
      if (this.#bytes[start + at] !== this.#bytes[this.#start + at]) return false
    }
    return true
  }
}

/** The next blank of the line. */
function blankAfter(bytes: Buffer, from: number, line: number, missing: string): number {
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at] ?? BLANK
    if (byte === BLANK) return at
    if (byte === NEWLINE) break
  }
  throw endsBefore(line, missing)
}

function endsBefore(line: number, missing: string): VolctlError {
  return damaged(line, `the line ends before its ${missing}`)
}

function decimal(bytes: Buffer, from: number, stop: number, line: number, what: string): number {
  if (from === stop) throw damaged(line, `the ${what} is empty`)
  let value = 0
  for (let at = from; at < stop; at++) {
    const digit = (bytes[at] ?? 0) - ZERO
    if (digit < 0 || digit > 9) throw damaged(line, `the ${what} is not a number`)
    value = value * 10 + digit
  }
  if (value > 0x7fff_ffff) throw damaged(line, `the ${what} is too large`)
  return value
}

function device(bytes: Buffer, from: number, stop: number, line: number): number {
  let colon = from
  while (colon < stop && bytes[colon] !== COLON) colon++
  if (colon === stop) throw damaged(line, 'the third field is not major:minor')
  return deviceKey(
    decimal(bytes, from, colon, line, 'major number'),
    decimal(bytes, colon + 1, stop, line, 'minor number'),
  )
}

/** Optional fields end at an element that is only "-"; options before it may contain dashes. */
function loneDash(bytes: Buffer, from: number, line: number): number {
  for (let at = from; at + 2 < bytes.length && bytes[at] !== NEWLINE; at++) {
    if (bytes[at] === BLANK && bytes[at + 1] === DASH && bytes[at + 2] === BLANK) return at
  }
  throw damaged(line, 'there is no separator "-"')
}

function damaged(line: number, what: string): VolctlError {
  return new VolctlError('NodeUnreadable', `mount table, line ${line}: ${what}`, {
    hint: 'The kernel never writes such a line: try again, or check the snapshot that it came from.',
  })
}
