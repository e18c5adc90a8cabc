/** Paths, and what the kernel says of deleted ones. */
import { posix } from 'node:path'

/**
 * Whether `path` is `base` or below it: by path component, lexically, without touching the disk (P112). `/a/bc` is not within
 * `/a/b`; a name that merely begins with two dots (`..2026_11_21`) is.
 */
export function isWithin(path: string, base: string): boolean {
  const directory = plainPath(base)
  const entry = plainPath(path)
  return entry === directory || entry.startsWith(directory === '/' ? '/' : `${directory}/`)
}

/**
 * Without `.`, `..`, doubled and trailing slashes. Fast for plain paths: nearly every path is one, and this runs for every
 * mount.
 */
export function plainPath(path: string): string {
  if (!path.includes('/.') && !path.includes('//') && !path.endsWith('/')) return path
  const normal = posix.normalize(path)
  return normal.length > 1 && normal.endsWith('/') ? normal.slice(0, -1) : normal
}

const NAMED: Readonly<Record<string, number>> = { '/dev/stdin': 0, '/dev/stdout': 1, '/dev/stderr': 2 }

/** The descriptor of this process that a file name on the command line stands for, to be read: bash's `<(…)` is /dev/fd/63. */
export function ownDescriptor(text: string): number | undefined {
  if (text === '-') return 0
  const digits = /^\/(?:dev|proc\/self)\/fd\/(\d{1,9})$/.exec(text)?.[1]
  return digits === undefined ? NAMED[text] : Number(digits)
}

// One name in a path. A text from the API, a runtime or a disk is used in a path only if it is such a name (S10).

const MAX_BYTES = 255

// biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be in a path that people read.
const UNFIT = /[/\u0000-\u001f\u007f-\u009f]/

/** Not empty, not `.` or `..`, without a slash or a control character, and not too long for a name. */
export function isPathName(text: string): boolean {
  return text !== '' && text !== '.' && text !== '..' && !UNFIT.test(text) && Buffer.byteLength(text) <= MAX_BYTES
}

/** Absolute, and made only of such names: no component leads anywhere but down. */
export function isPlainPath(path: string): boolean {
  return path.startsWith('/') && path.slice(1).split('/').every(isPathName)
}

// What stat(1) shows of a path, for plan and apply alike (P58, P66).

export type PathType = 'dir' | 'file' | 'socket' | 'char' | 'block' | 'fifo'

/** Mode, device number and name: coreutils and BusyBox print them alike. */
export const STAT_FORMAT = '%f %t %T %n'

/** By the first hexadecimal digit of the mode. */
const FILE_TYPES: ReadonlyMap<string, PathType> = new Map([
  ['1', 'fifo'],
  ['2', 'char'],
  ['4', 'dir'],
  ['6', 'block'],
  ['8', 'file'],
  ['c', 'socket'],
])

/** Undefined: the line is not in stat's format. @returns "major:minor" as `device`, which is meaningless for other types */
export function parseStatLine(line: string) {
  const [, kind = '', major = '', minor = '', name = ''] =
    /^([0-9a-f])[0-9a-f]{3} ([0-9a-f]+) ([0-9a-f]+) (.*)$/s.exec(line) ?? []
  const type = FILE_TYPES.get(kind)
  return type && { type, device: `${Number.parseInt(major, 16)}:${Number.parseInt(minor, 16)}`, name }
}

// Removes what the kernel appends to the names of removed files (P115). A file's own name may end like that, too.

const DELETED = ' (deleted)'

/** For a mount point, a backing file, or a file that a process has open. */
export function undeletedPath(path: string): string {
  return path.endsWith(DELETED) ? path.slice(0, -DELETED.length) : path
}

/** For a mount's root in its file system: a directory that was bind-mounted and then removed is still shown. */
export function undeletedRoot(root: string): string {
  return root.replace(/\/\/deleted$/, '')
}
