import type { MountPiece } from './mount-piece.ts'
import type { MountInfo } from './mount-table.ts'

const SEPARATOR = ' - '

/** One row of a piece of the table as a MountInfo. Texts are decoded when they are first used. */
export class MountRecord implements MountInfo {
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
