/**
 * Rows under a head, as kubectl prints them: no borders, two spaces between columns, nothing wrapped, no column that is empty in every
 * row. Columns give way where the terminal is too narrow; where even that does not help, what a row is of (a pod, a node) becomes the
 * head of its rows. What has given way may stand in words below its row.
 */

import Table from 'cli-table3'
import { alike } from '../base/text.ts'
import type { Hint } from '../messages/command.ts'
import { terminalSafe } from '../messages/terminal-safe.ts'
import { asItIs, type Screen, textWidth, wrapped } from './screen.ts'

/** One cell: plain text, or text and the colour it gets once its width is known. */
export type Cell = string | { readonly text: string; readonly paint: (text: string) => string }

export interface Column<R> {
  readonly head: string
  readonly cell: (row: R, screen: Screen) => Cell
  /** The lowest gives way first; absent: it stays. */
  readonly stays?: number
  /** Is something wrong with a row, and this column says it? Then the column gives way after all others. */
  readonly tells?: (row: R) => boolean
}

export interface TableForm<R> {
  /** What rows are grouped by where nothing else helps. */
  readonly owner?: Column<R>
  readonly columns: readonly Column<R>[]
  /** What has given way stands in words below its row. */
  readonly inWords: boolean
  /** More lines below a row. */
  readonly below?: (row: R) => readonly Hint[]
}

const INDENT = '  '
const GAP = 2

export function columnsTable<R>(form: TableForm<R>, rows: readonly R[], screen: Screen): string {
  const { owner, inWords, below } = form
  const { width = Number.POSITIVE_INFINITY, paint } = screen
  const columns = form.columns.map((each) => filled(each, rows, screen))
  const owners = owner && filled(owner, rows, screen)
  const flat = fitting(owners === undefined ? columns : [owners, ...columns], width)
  const groups = widthOf(flat) > width ? owners : undefined
  const shown = groups === undefined ? flat : fitting(columns, width - INDENT.length)
  const groupOf = (row: number): string => groups?.cells[row]?.text ?? ''
  const order = alike(rows.keys(), groupOf).flat()
  const hidden = columns.filter((each) => !shown.includes(each))
  const [head = '', ...lines] = drawn(shown, order, groups === undefined ? '' : INDENT)
  let last = ''
  const texts = order.map((index, line) => {
    const group = groupOf(index)
    const heading = group === last ? '' : wrapped('', group, screen.width, paint.bold)
    last = group
    const row = rows[index]
    const said = [inWords ? wordsOf(hidden, index) : '', ...(row === undefined ? [] : (below?.(row) ?? []))]
      .filter((text) => text !== '')
      .map((text) => wrapped(INDENT.repeat(2), text, screen.width))
    return `${heading}${lines[line] ?? ''}\n${said.join('')}`
  })
  return `${head}\n${texts.join('')}`
}

type Filled = ReturnType<typeof filled>

/** A column with its cells, made safe. */
function filled<R>({ head, cell, stays, tells }: Column<R>, rows: readonly R[], screen: Screen) {
  const cells = rows.map((row) => {
    const made = cell(row, screen)
    const { text, paint } = typeof made === 'string' ? { text: made, paint: asItIs } : made
    return { text: terminalSafe(text), paint }
  })
  // A loop, as spreading 100,000 rows into Math.max would overflow the stack.
  let width = 0
  for (const { text } of cells) width = Math.max(width, textWidth(text))
  const isPressing = stays !== undefined && tells !== undefined && rows.some(tells)
  return {
    head,
    cells,
    /** Of its widest line; 0: it is empty, and left out. */
    width: width === 0 ? 0 : Math.max(width, textWidth(head)),
    /** The lowest gives way first. */
    rank: isPressing ? stays + LAST : stays,
  }
}

/** More than any table has columns. */
const LAST = 100

/** All columns but those that are empty or have to give way. */
function fitting(columns: readonly Filled[], width: number): readonly Filled[] {
  const shown = new Set(columns.filter((each) => each.width > 0))
  const order = [...shown].filter(({ rank }) => rank !== undefined)
  for (const column of order.toSorted((a, b) => (a.rank ?? 0) - (b.rank ?? 0))) {
    if (widthOf([...shown]) <= width) break
    shown.delete(column)
  }
  return [...shown]
}

function widthOf(columns: readonly Filled[]): number {
  return columns.reduce((sum, { width }) => sum + width + GAP, -GAP)
}

function wordsOf(hidden: readonly Filled[], row: number): string {
  const words = hidden.flatMap(({ head, cells }) => {
    const text = cells[row]?.text ?? ''
    return text === '' ? [] : [`${head.toLowerCase()}: ${text}`]
  })
  return words.join('; ')
}

const NO_BORDERS = Object.fromEntries(Object.keys(new Table().options.chars).map((part) => [part, '']))

/** cli-table3 lays a table out in quadratic time: a long one is drawn in pieces, whose columns are as wide as the whole one's. */
const ROWS_AT_ONCE = 100

/** The head, and each row. */
function drawn(columns: readonly Filled[], order: readonly number[], indent: string): string[] {
  const painted = order.map((row) => columns.map(({ cells: { [row]: cell } }) => cell?.paint(cell.text) ?? ''))
  const rows = [columns.map(({ head }) => head), ...painted]
  if (columns.length === 0) return rows.map(() => '')
  const lines: string[] = []
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    const table = new Table({
      chars: NO_BORDERS,
      colWidths: columns.map(({ width }) => width + GAP),
      style: { head: [], border: [], 'padding-left': 0, 'padding-right': GAP, compact: true },
    })
    table.push(...rows.slice(from, from + ROWS_AT_ONCE))
    lines.push(...table.toString().split('\n'))
  }
  return lines.map((line) => `${indent}${line}`.trimEnd())
}
