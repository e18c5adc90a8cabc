import { isAscii } from 'node:buffer'
import { decodeOctal } from './decode-octal.ts'
import { type MountColumns, scanLines } from './scan-lines.ts'

/**
 * A piece of a mount table: whole lines, once as one string with a character for each byte. Fields are slices of it: a hundred
 * thousand separate strings would cost more than everything else that is done with them.
 */
export class MountPiece {
  readonly columns: MountColumns
  /** Position of its first row in the whole table. */
  readonly firstRow: number
  readonly text: string
  readonly isAscii: boolean

  /**
   * @param bytes whole lines; they are copied
   * @param firstLine the number of the first one, for messages
   * @param decoded the same as a string, where there is one: then it is not made a second time
   * @throws VolctlError NodeUnreadable, naming the line
   */
  constructor(bytes: Buffer, firstRow: number, firstLine: number, decoded?: string) {
    this.columns = scanLines(bytes, firstLine)
    this.firstRow = firstRow
    this.isAscii = isAscii(bytes)
    this.text = this.isAscii && decoded !== undefined ? decoded : bytes.toString('latin1')
  }

  /** A field, its escapes decoded. @param start, end offsets in bytes */
  slice(start: number, end: number): string {
    return this.decoded(this.text.slice(start, end))
  }

  /** @param field a part of `text` */
  decoded(field: string): string {
    return this.isAscii && !field.includes('\\') ? field : decodeOctal(Buffer.from(field, 'latin1'))
  }

  mountPoint(row: number): string {
    const { mountPointStart, mountPointEnd, isPlain } = this.columns
    const raw = this.text.slice(mountPointStart[row], mountPointEnd[row])
    return isPlain[row] === 1 ? raw : this.decoded(raw)
  }

  /** What is behind the mount point's last slash. */
  name(row: number): string {
    const { nameStart, mountPointEnd, isPlain } = this.columns
    if (isPlain[row] === 1) return this.text.slice(nameStart[row], mountPointEnd[row])
    const path = this.mountPoint(row)
    return path.slice(path.lastIndexOf('/') + 1)
  }

  fsType(row: number): string {
    const { type, types } = this.columns
    return types[type[row] ?? 0] ?? ''
  }

  /** Is a plain mount point directly in this directory. @param directory "" for the root directory */
  isDirectlyIn(directory: string, row: number): boolean {
    const { mountPointStart, nameStart } = this.columns
    const start = mountPointStart[row] ?? 0
    return (nameStart[row] ?? 0) - start === directory.length + 1 && this.text.startsWith(directory, start)
  }
}

/** The piece that has this row of the table. */
export function pieceOf(pieces: readonly MountPiece[], index: number): MountPiece {
  let low = 0
  for (let high = pieces.length; high - low > 1; ) {
    const middle = (low + high) >> 1
    if ((pieces[middle]?.firstRow ?? 0) <= index) low = middle
    else high = middle
  }
  return pieces[low] as MountPiece
}
