import { terminalSafe } from './terminal-safe.ts'
import { textWidth } from './text-width.ts'

/** One cell: plain text, or text and the colour it gets once its width is known. */
export type Cell = string | { readonly text: string; readonly paint: (text: string) => string }

const GAP = 2

/**
 * Rows under a head, as kubectl prints them: no borders, two spaces between columns, nothing wrapped.
 * Columns that are empty in every row are left out.
 */
export function renderTable(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const { safe, colWidths } = measured(head, rows)
  return safe
    .map(
      (row) =>
        `${row
          .map((cell, column) => padded(cell, colWidths[column]))
          .join('')
          .trimEnd()}\n`,
    )
    .join('')
}

function padded(cell: Cell, width = 0): string {
  return paintedCell(cell, cellText(cell)) + ' '.repeat(width - widthOf(cell))
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
