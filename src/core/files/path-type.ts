/** What stat(1) shows of a path, for plan and apply alike (P58, P66). */

export type PathType = 'dir' | 'file' | 'socket' | 'char' | 'block' | 'fifo'

/** Links are followed. Mode, device number and name of each: coreutils and BusyBox print them alike. */
export const STAT_ARGUMENTS: readonly string[] = ['-L', '-c', '%f %t %T %n']

/** By the first hexadecimal digit of the mode. */
const FILE_TYPES: ReadonlyMap<string, PathType> = new Map([
  ['1', 'fifo'],
  ['2', 'char'],
  ['4', 'dir'],
  ['6', 'block'],
  ['8', 'file'],
  ['c', 'socket'],
])

export interface StatLine {
  readonly type: PathType
  /** "major:minor" of a device; meaningless for other types. */
  readonly device: string
  readonly name: string
}

/** Undefined: the line is not in stat's format. */
export function parseStatLine(line: string): StatLine | undefined {
  const [, kind, major, minor, name] = /^([0-9a-f])[0-9a-f]{3} ([0-9a-f]+) ([0-9a-f]+) (.*)$/s.exec(line) ?? []
  if (kind === undefined || major === undefined || minor === undefined || name === undefined) return undefined
  const type = FILE_TYPES.get(kind)
  if (type === undefined) return undefined
  return { type, device: `${Number.parseInt(major, 16)}:${Number.parseInt(minor, 16)}`, name }
}
