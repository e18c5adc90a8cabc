import Table from 'cli-table3'
import { terminalSafe } from './terminal-safe.ts'

/** cli-table3 lays out in quadratic time: up to this many rows it draws the table, above it columns are padded. */
const TABLE_ROWS = 500

const NO_BORDERS = Object.fromEntries(
  [
    ...['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right'],
    ...['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid', 'middle'],
  ].map((part) => [part, '']),
)

/** One cell: plain text, or text and the colour it gets once its width is known. */
export type Cell = string | { readonly text: string; readonly paint: (text: string) => string }

/**
 * Rows under a head, as kubectl prints them: no borders, two spaces between columns, nothing wrapped.
 * Columns that are empty in every row are left out. Both ways of drawing give the same bytes.
 */
export function renderTable(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const shown = head.map((_, column) => rows.some((row) => textOf(row[column]) !== ''))
  const keep = <T>(row: readonly T[]): T[] => row.filter((_, column) => shown[column])
  const safe: Cell[][] = [keep(head), ...rows.map((row) => keep(row).map(safeCell))]
  const lines = rows.length <= TABLE_ROWS ? drawn(safe) : padded(safe)
  return lines.map((line) => `${line.trimEnd()}\n`).join('')
}

/** A loop, as spreading 100,000 rows into Math.max would overflow the stack. */
function widest(rows: readonly (readonly Cell[])[], column: number): number {
  let width = 0
  for (const row of rows) width = Math.max(width, textOf(row[column]).length)
  return width
}

function drawn(rows: readonly (readonly Cell[])[]): string[] {
  const table = new Table({
    chars: NO_BORDERS,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2, compact: true },
  })
  for (const row of rows) table.push(row.map(paintedText))
  return table.toString().split('\n')
}

function padded(rows: readonly (readonly Cell[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => widest(rows, column))
  return rows.map((row) =>
    row.map((cell, column) => paintedText(cell) + ' '.repeat((widths[column] ?? 0) + 2 - textOf(cell).length)).join(''),
  )
}

function textOf(cell: Cell | undefined): string {
  return cell === undefined ? '' : typeof cell === 'string' ? cell : cell.text
}

function paintedText(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.paint(cell.text)
}

function safeCell(cell: Cell): Cell {
  return typeof cell === 'string' ? terminalSafe(cell) : { ...cell, text: terminalSafe(cell.text) }
}
