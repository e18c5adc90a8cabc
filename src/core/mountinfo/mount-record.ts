import { decodeOctal } from './decode-octal.ts'
import type { MountInfo } from './mount-table.ts'
import type { MountText } from './mount-text.ts'
import type { MountColumns } from './scan-lines.ts'
import { splitOptions } from './split-options.ts'

const BLANK = 0x20
const SEPARATOR = ' - '
const NOTHING = Buffer.alloc(0)

/** One row of the columns as a MountInfo. Texts are decoded when they are first used. */
export class MountRecord implements MountInfo {
  readonly index: number
  readonly #columns: MountColumns
  readonly #text: MountText
  #mountPoint: string | undefined
  #root: string | undefined

  constructor(columns: MountColumns, text: MountText, index: number) {
    this.#columns = columns
    this.#text = text
    this.index = index
  }

  get id(): number {
    return this.#columns.id[this.index] ?? -1
  }

  get parentId(): number {
    return this.#columns.parentId[this.index] ?? -1
  }

  get mountPoint(): string {
    const { mountPointStart, mountPointEnd } = this.#columns
    this.#mountPoint ??= this.#text.slice(mountPointStart[this.index] ?? 0, mountPointEnd[this.index] ?? 0)
    return this.#mountPoint
  }

  get dev(): string {
    const key = this.#columns.dev[this.index] ?? 0
    return `${Math.floor(key / 0x1_0000_0000)}:${key % 0x1_0000_0000}`
  }

  get root(): string {
    this.#root ??= this.#rootText()
    return this.#root
  }

  get options(): readonly string[] {
    return decodedOptions(this.#head()[0])
  }

  get optionalFields(): readonly string[] {
    return this.#head()
      .slice(1)
      .filter((field) => field.length > 0)
      .map((field) => decodeOctal(field))
  }

  get fsType(): string {
    const start = this.#typeStart()
    return this.#text.slice(start, this.#wordEnd(start))
  }

  get source(): string {
    const start = this.#wordEnd(this.#typeStart()) + 1
    return this.#text.slice(start, this.#wordEnd(start))
  }

  get superOptions(): readonly string[] {
    return decodedOptions(this.#tail()[2])
  }

  toJSON(): MountInfo {
    const { id, parentId, dev, root, mountPoint, options, optionalFields, fsType, source, superOptions, index } = this
    return { id, parentId, dev, root, mountPoint, options, optionalFields, fsType, source, superOptions, index }
  }

  #rootText(): string {
    const end = (this.#columns.mountPointStart[this.index] ?? 0) - 1
    let start = end
    while (start > 0 && this.#columns.bytes[start - 1] !== BLANK) start--
    return this.#text.slice(start, end)
  }

  #typeStart(): number {
    return (this.#columns.separator[this.index] ?? 0) + SEPARATOR.length
  }

  #wordEnd(start: number): number {
    const stop = this.#columns.end[this.index] ?? 0
    let end = start
    while (end < stop && this.#columns.bytes[end] !== BLANK) end++
    return end
  }

  /** Mount options and optional fields: between the mount point and the separator. */
  #head(): readonly Buffer[] {
    const start = (this.#columns.mountPointEnd[this.index] ?? 0) + 1
    return fieldsOf(this.#slice(start, this.#columns.separator[this.index]))
  }

  /** Type, source and super options: what follows the separator. */
  #tail(): readonly Buffer[] {
    return fieldsOf(this.#slice(this.#typeStart(), this.#columns.end[this.index]))
  }

  #slice(start: number | undefined, end: number | undefined): Buffer {
    return this.#columns.bytes.subarray(start ?? 0, end ?? 0)
  }
}

/** Splits at every single blank: an empty source shows as two blanks in a row. */
function fieldsOf(raw: Buffer): readonly Buffer[] {
  const found: Buffer[] = []
  for (let at = 0; at <= raw.length; ) {
    const blank = raw.indexOf(BLANK, at)
    const stop = blank === -1 ? raw.length : blank
    found.push(raw.subarray(at, stop))
    at = stop + 1
  }
  return found
}

/** Decodes after splitting: the kernel writes a comma inside a value as `\\054` (seq_show_option). */
function decodedOptions(raw: Buffer | undefined): readonly string[] {
  return splitOptions((raw ?? NOTHING).toString('latin1')).map((option) => decodeOctal(Buffer.from(option, 'latin1')))
}
