/**
 * Rows of operations and waits, in columns that all groups of a plan share.
 *
 * Where the terminal is too narrow, columns give way in this order: ID, RULE, REASON, DELETES, STATE, VOLUME. What gives
 * way is not lost: it stands in words on a line below its row. The number and the operation always stay.
 */
import type { Palette } from './palette.ts'
import { type Cell, cellText, paintedCell } from './render-table.ts'
import { terminalSafe } from './terminal-safe.ts'
import { textWidth } from './text-width.ts'
import { type Width, wrapped } from './wrap.ts'

const COLUMNS = ['#', 'OPERATION', 'VOLUME', 'STATE', 'DELETES', 'REASON', 'RULE', 'ID'] as const
type Column = (typeof COLUMNS)[number]

const GIVE_WAY: readonly Column[] = ['ID', 'RULE', 'REASON', 'DELETES', 'STATE', 'VOLUME']

/** How a column's text reads on a line of its own. */
const IN_WORDS: Readonly<Partial<Record<Column, string>>> = {
  VOLUME: 'volume ',
  DELETES: 'deletes ',
  REASON: 'reason ',
  RULE: 'rule ',
  ID: 'id ',
}

export type Row = { readonly [C in Column]?: Cell }

const INDENT = '  '
const GAP = 2
/** A longer name stands out to the right of its column, and takes what follows with it. */
const LONGEST_VOLUME = 24

/** Made of all rows of a plan, so that groups stand below each other. */
export class Rows {
  readonly #width: Width
  readonly #widths: ReadonlyMap<Column, number>
  readonly #columns: readonly Column[]

  constructor(rows: readonly Row[], width: Width) {
    const natural = widthsOf(rows, Number.POSITIVE_INFINITY)
    const fits = width === undefined || totalOf([...natural.keys()], natural) <= width
    this.#width = width
    this.#widths = fits ? natural : widthsOf(rows, LONGEST_VOLUME)
    this.#columns = fitting(this.#widths, width)
  }

  head(): string {
    return this.#columns.length === 0 ? '' : `${this.#line(this.#columns.map((column) => [column, column]))}\n`
  }

  /** One row, and below it what has given way. */
  draw(row: Row, paint: Palette): string {
    let shown = this.#columns.flatMap((column) => (isEmpty(row[column]) ? [] : [column]))
    for (const column of GIVE_WAY) {
      if (this.#width === undefined || this.#lineWidth(shown, row) <= this.#width) break
      shown = shown.filter((each) => each !== column)
    }
    const below = COLUMNS.filter((column) => !shown.includes(column) && !isEmpty(row[column]))
    const words = below.map((column) => `${IN_WORDS[column] ?? ''}${cellText(row[column] ?? '')}`).join('; ')
    const line = this.#line(shown.map((column) => [column, row[column] ?? '']))
    return `${line}\n${words === '' ? '' : wrapped(this.indent, words, this.#width, paint.dim)}`
  }

  /** How far what is said about a row is indented: below its operation. */
  get indent(): string {
    return `${INDENT}${' '.repeat((this.#widths.get('#') ?? 1) + GAP)}`
  }

  #line(cells: readonly (readonly [Column, Cell])[]): string {
    let line = INDENT
    let end = 0
    for (const [column, cell] of cells) {
      const text = terminalSafe(cellText(cell))
      const start = this.#startAfter(end, column)
      line += `${' '.repeat(start - Math.max(end, INDENT.length))}${paintedCell(cell, text)}`
      end = start + textWidth(text)
    }
    return line
  }

  #lineWidth(columns: readonly Column[], row: Row): number {
    return columns.reduce(
      (end, column) => this.#startAfter(end, column) + textWidth(terminalSafe(cellText(row[column]))),
      0,
    )
  }

  /** Where a cell begins: at its column, or behind a text that stands out of the one before. @param end 0: the first one */
  #startAfter(end: number, column: Column): number {
    return Math.max(this.#startOf(column), end === 0 ? INDENT.length : end + GAP)
  }

  #startOf(column: Column): number {
    let start = INDENT.length
    for (const before of this.#columns) {
      if (before === column) return start
      start += (this.#widths.get(before) ?? 0) + GAP
    }
    return start
  }
}

/** @param longest a longer name of a volume does not count */
function widthsOf(rows: readonly Row[], longest: number): Map<Column, number> {
  const widths = new Map<Column, number>()
  for (const row of rows) {
    for (const column of COLUMNS) {
      if (isEmpty(row[column])) continue
      const wide = textWidth(terminalSafe(cellText(row[column])))
      const counts = column !== 'VOLUME' || wide <= longest
      widths.set(column, Math.max(widths.get(column) ?? column.length, counts ? wide : 0))
    }
  }
  return widths
}

/** The columns that any row has, as far as all of them fit side by side. */
function fitting(widths: ReadonlyMap<Column, number>, width: Width): readonly Column[] {
  let columns = COLUMNS.filter((column) => widths.has(column))
  for (const column of GIVE_WAY) {
    if (width === undefined || totalOf(columns, widths) <= width) break
    columns = columns.filter((each) => each !== column)
  }
  return columns
}

function totalOf(columns: readonly Column[], widths: ReadonlyMap<Column, number>): number {
  return columns.reduce((sum, each) => sum + (widths.get(each) ?? 0) + GAP, INDENT.length) - GAP
}

function isEmpty(cell: Cell | undefined): boolean {
  return cell === undefined || cellText(cell) === ''
}
