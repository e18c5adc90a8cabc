/** What stat(1) says of a path: the same words for a plan's look and for apply's (P58, P66). */

export type PathType = 'dir' | 'file' | 'socket' | 'char' | 'block' | 'fifo'

/** Links are followed. Mode, device number and name of each: coreutils and BusyBox print them alike. */
export const STAT_ARGUMENTS: readonly string[] = ['-L', '-c', '%f %t %T %n']

const FILE_TYPES: Readonly<Record<number, PathType>> = {
  4: 'dir',
  7: 'file',
  11: 'socket',
  2: 'char',
  6: 'block',
  1: 'fifo',
}

export interface StatLine {
  readonly type: PathType
  /** "major:minor" of a device; of anything else it means nothing. */
  readonly device: string
  readonly name: string
}

/** Undefined: it is no line of stat's. */
export function parseStatLine(line: string): StatLine | undefined {
  const [, mode, major, minor, name] = /^([0-9a-f]+) ([0-9a-f]+) ([0-9a-f]+) (.*)$/s.exec(line) ?? []
  if (mode === undefined || major === undefined || minor === undefined || name === undefined) return undefined
  const type = FILE_TYPES[Number.parseInt(mode, 16) >> 12]
  if (type === undefined) return undefined
  return { type, device: `${Number.parseInt(major, 16)}:${Number.parseInt(minor, 16)}`, name }
}
