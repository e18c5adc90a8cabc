import { terminalSafe } from './terminal-safe.ts'
import { textWidth } from './text-width.ts'

/** One cell: plain text, or text and the colour it gets once its width is known. */
export type Cell = string | { readonly text: string; readonly paint: (text: string) => string }

/**
 * Rows under a head, as kubectl prints them: no borders, two spaces between columns, nothing wrapped.
 * Columns that are empty in every row are left out. In linear time: a plan may have 100,000 rows.
 */
export function renderTable(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const shown = head.map((_, column) => rows.some((row) => textOf(row[column]) !== ''))
  const keep = <T>(row: readonly T[]): T[] => row.filter((_, column) => shown[column])
  const safe: Cell[][] = [keep(head), ...rows.map((row) => keep(row).map(safeCell))]
  return padded(safe)
    .map((line) => `${line.trimEnd()}\n`)
    .join('')
}

function padded(rows: readonly (readonly Cell[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => widest(rows, column))
  return rows.map((row) =>
    row.map((cell, column) => paintedText(cell) + ' '.repeat((widths[column] ?? 0) + 2 - widthOf(cell))).join(''),
  )
}

/** A loop, as spreading 100,000 rows into Math.max would overflow the stack. */
function widest(rows: readonly (readonly Cell[])[], column: number): number {
  let width = 0
  for (const row of rows) width = Math.max(width, widthOf(row[column]))
  return width
}

function widthOf(cell: Cell | undefined): number {
  return textWidth(textOf(cell))
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
