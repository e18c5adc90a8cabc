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
import { VolctlError } from '../errors/errors.ts'

/** One column per fact, one row per line of a piece of the table. Offsets are bytes of the piece. */
export interface MountColumns {
  readonly size: number
  /** Lines of the piece, blank ones included. */
  readonly lines: number
  readonly id: Int32Array
  readonly parentId: Int32Array
  /** major * 2^32 + minor. */
  readonly dev: Float64Array
  readonly end: Uint32Array
  readonly mountPointStart: Uint32Array
  readonly mountPointEnd: Uint32Array
  /** Of the mount point's bytes before its last slash (FNV-1a). */
  readonly directoryHash: Int32Array
  /** 1: the mount point is absolute ASCII without an escape, so that its bytes are its text. */
  readonly isPlain: Uint8Array
  /** Offset of the blank before the lone "-". */
  readonly separator: Uint32Array
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

/**
 * @param bytes whole lines
 * @param firstLine the number of the first one, for messages
 * @throws VolctlError MountinfoDamaged, naming the line
 */
export function scanLines(bytes: Buffer, firstLine = 1): MountColumns {
  const rows = countLines(bytes)
  const id = new Int32Array(rows)
  const parentId = new Int32Array(rows)
  const dev = new Float64Array(rows)
  const end = new Uint32Array(rows)
  const mountPointStart = new Uint32Array(rows)
  const mountPointEnd = new Uint32Array(rows)
  const directoryHash = new Int32Array(rows)
  const isPlain = new Uint8Array(rows)
  const separator = new Uint32Array(rows)
  let size = 0
  let line = firstLine - 1
  for (let at = 0; at < bytes.length; ) {
    line++
    const newline = bytes.indexOf(NEWLINE, at)
    const stop = newline === -1 ? bytes.length : newline
    if (stop > at) {
      const idEnd = blankAfter(bytes, at, stop, line, 'parent id')
      const parentEnd = blankAfter(bytes, idEnd + 1, stop, line, 'major:minor')
      const devEnd = blankAfter(bytes, parentEnd + 1, stop, line, 'root')
      const rootEnd = blankAfter(bytes, devEnd + 1, stop, line, 'mount point')
      let hash = FIRST_HASH
      let above = FIRST_HASH
      let plain = bytes[rootEnd + 1] === SLASH
      let pathEnd = rootEnd + 1
      for (; pathEnd < stop; pathEnd++) {
        const byte = bytes[pathEnd] ?? BLANK
        if (byte === BLANK) break
        if (byte === SLASH) above = hash
        else if (byte === BACKSLASH || byte >= ASCII_END) plain = false
        hash = Math.imul(hash ^ byte, HASH_PRIME)
      }
      if (pathEnd >= stop) throw endsBefore(line, 'mount options')
      if (devEnd + 1 === rootEnd) throw damaged(line, 'the root is empty')
      if (rootEnd + 1 === pathEnd) throw damaged(line, 'the mount point is empty')
      id[size] = decimal(bytes, at, idEnd, line, 'mount id')
      parentId[size] = decimal(bytes, idEnd + 1, parentEnd, line, 'parent id')
      dev[size] = device(bytes, parentEnd + 1, devEnd, line)
      end[size] = stop
      mountPointStart[size] = rootEnd + 1
      mountPointEnd[size] = pathEnd
      directoryHash[size] = above
      isPlain[size] = plain ? 1 : 0
      const dash = loneDash(bytes, pathEnd + 1, stop, line)
      separator[size] = dash
      const typeEnd = blankAfter(bytes, dash + 3, stop, line, 'source')
      blankAfter(bytes, typeEnd + 1, stop, line, 'super options')
      size++
    }
    at = stop + 1
  }
  const lines = line - firstLine + 1
  return {
    size,
    lines,
    id,
    parentId,
    dev,
    end,
    mountPointStart,
    mountPointEnd,
    directoryHash,
    isPlain,
    separator,
  }
}

function countLines(bytes: Buffer): number {
  let lines = 1
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) lines++
  return lines
}

function blankAfter(bytes: Buffer, from: number, stop: number, line: number, missing: string): number {
  let at = from
  while (at < stop && bytes[at] !== BLANK) at++
  if (at >= stop) throw endsBefore(line, missing)
  return at
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
function loneDash(bytes: Buffer, from: number, stop: number, line: number): number {
  for (let at = from; at + 2 < stop; at++) {
    if (bytes[at] === BLANK && bytes[at + 1] === DASH && bytes[at + 2] === BLANK) return at
  }
  throw damaged(line, 'there is no separator "-"')
}

function damaged(line: number, what: string): VolctlError {
  return new VolctlError('MountinfoDamaged', `mount table, line ${line}: ${what}`, {
    hint: 'The kernel never writes such a line: try again, or check the snapshot that it came from.',
  })
}
