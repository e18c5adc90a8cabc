import Table from 'cli-table3'
import { terminalSafe } from '../base/terminal-safe.ts'
import { textWidth } from './text-width.ts'

/** One cell: plain text, or text and the colour it gets once its width is known. */
export type Cell = string | { readonly text: string; readonly paint: (text: string) => string }

/** cli-table3 lays a table out in quadratic time: a long one is drawn in pieces, whose columns are as wide as the whole one's. */
const ROWS_AT_ONCE = 100

const NO_BORDERS = Object.fromEntries(
  [
    ...['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right'],
    ...['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid', 'middle'],
  ].map((part) => [part, '']),
)

const GAP = 2

/**
 * Rows under a head, as kubectl prints them: no borders, two spaces between columns, nothing wrapped.
 * Columns that are empty in every row are left out.
 */
export function renderTable(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const { safe, colWidths } = measured(head, rows)
  if (colWidths.length === 0) return '\n'.repeat(safe.length)
  let text = ''
  for (let from = 0; from < safe.length; from += ROWS_AT_ONCE) {
    for (const line of drawn(safe.slice(from, from + ROWS_AT_ONCE), colWidths)) text += `${line.trimEnd()}\n`
  }
  return text
}

/** How many terminal columns its widest line may take. */
export function tableWidth(head: readonly string[], rows: readonly (readonly Cell[])[]): number {
  return measured(head, rows).colWidths.reduce((sum, width) => sum + width, -GAP)
}

function measured(
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
): { readonly safe: readonly (readonly Cell[])[]; readonly colWidths: readonly number[] } {
  const shown = head.map((_, column) => rows.some((row) => cellText(row[column]) !== ''))
  const keep = <T>(row: readonly T[]): T[] => row.filter((_, column) => shown[column])
  const safe: Cell[][] = [keep(head), ...rows.map((row) => keep(row).map(safeCell))]
  return { safe, colWidths: keep(head).map((_, column) => widest(safe, column) + GAP) }
}

function drawn(rows: readonly (readonly Cell[])[], colWidths: readonly number[]): string[] {
  const table = new Table({
    chars: NO_BORDERS,
    colWidths: [...colWidths],
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': GAP, compact: true },
  })
  for (const row of rows) table.push(row.map((cell) => paintedCell(cell, cellText(cell))))
  return table.toString().split('\n')
}

/** A loop, as spreading 100,000 rows into Math.max would overflow the stack. */
function widest(rows: readonly (readonly Cell[])[], column: number): number {
  let width = 0
  for (const row of rows) width = Math.max(width, widthOf(row[column]))
  return width
}

function widthOf(cell: Cell | undefined): number {
  return textWidth(cellText(cell))
}

export function cellText(cell: Cell | undefined): string {
  return cell === undefined ? '' : typeof cell === 'string' ? cell : cell.text
}

/** @param text of the cell, made safe */
export function paintedCell(cell: Cell, text: string): string {
  return typeof cell === 'string' ? text : cell.paint(text)
}

function safeCell(cell: Cell): Cell {
  return typeof cell === 'string' ? terminalSafe(cell) : { ...cell, text: terminalSafe(cell.text) }
}
