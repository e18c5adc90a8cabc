/**
 * A table whose columns give way where the terminal is too narrow; where even that does not help, what a row is of (a pod, a node)
 * becomes the head of its rows. What has given way may stand in words below its row.
 */
import { type Cell, cellText, renderTable, tableWidth } from './render-table.ts'
import type { Screen } from './screen.ts'
import { wrapped } from './wrap.ts'

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
  readonly below?: (row: R) => readonly string[]
}

const INDENT = '  '
const GAP = 2

export function columnsTable<R>(form: TableForm<R>, rows: readonly R[], screen: Screen): string {
  const { owner, columns, inWords, below } = form
  const { width = Number.POSITIVE_INFINITY, paint } = screen
  const [first, ...others] = columns
  if (first === undefined) return ''
  const flat = fitting(owner === undefined ? columns : [owner, ...columns], rows, screen)
  const isGrouped = owner !== undefined && flat.width > width
  const { shown } = isGrouped ? fitting([indented(first), ...others], rows, screen) : flat
  const headOf = (row: R): string => (isGrouped ? cellText(owner.cell(row, screen)) : '')
  const sorted = isGrouped ? [...Map.groupBy(rows, headOf).values()].flat() : rows
  const hidden = columns.filter(({ head }) => !shown.some((column) => column.head.trim() === head))
  const cells = sorted.map((row) => shown.map(({ cell }) => cell(row, screen)))
  const [head = '', ...lines] = renderTable(
    shown.map((column) => column.head),
    cells,
  ).split('\n')
  let last = ''
  const texts = sorted.map((row, index) => {
    const group = headOf(row)
    const heading = group === last ? '' : wrapped('', group, screen.width, paint.bold)
    last = group
    const said = [inWords ? wordsOf(hidden, row, screen) : '', ...(below?.(row) ?? [])]
      .filter((text) => text !== '')
      .map((text) => wrapped(INDENT.repeat(2), text, screen.width))
    return `${heading}${lines[index] ?? ''}\n${said.join('')}`
  })
  return `${head}\n${texts.join('')}`
}

function wordsOf<R>(hidden: readonly Column<R>[], row: R, screen: Screen): string {
  const words = hidden.flatMap(({ head, cell }) => {
    const text = cellText(cell(row, screen))
    return text === '' ? [] : [`${head.toLowerCase()}: ${text}`]
  })
  return words.join('; ')
}

function indented<R>({ head, cell, ...first }: Column<R>): Column<R> {
  return {
    ...first,
    head: `${INDENT}${head}`,
    cell: (row, screen) => {
      const text = cell(row, screen)
      return typeof text === 'string' ? `${INDENT}${text}` : { ...text, text: `${INDENT}${text.text}` }
    },
  }
}

/** All columns but those that have to give way. */
function fitting<R>(
  columns: readonly Column<R>[],
  rows: readonly R[],
  screen: Screen,
): { readonly shown: readonly Column<R>[]; readonly width: number } {
  const { width = Number.POSITIVE_INFINITY } = screen
  const widths = new Map(columns.map((each) => [each, widthOf(each, rows, screen)]))
  const rank = ({ stays = 0, tells }: Column<R>): number =>
    stays + (tells !== undefined && rows.some(tells) ? columns.length : 0)
  const order = columns.filter(({ stays }) => stays !== undefined).toSorted((a, b) => rank(a) - rank(b))
  const total = (): number => [...widths.values()].reduce((sum, each) => sum + (each === 0 ? 0 : each + GAP), -GAP)
  for (const column of order) {
    if (total() <= width) break
    widths.delete(column)
  }
  return { shown: columns.filter((each) => widths.has(each)), width: total() }
}

/** 0: the column is empty, and left out. */
function widthOf<R>({ head, cell }: Column<R>, rows: readonly R[], screen: Screen): number {
  const width = tableWidth(
    [head],
    rows.map((row) => [cell(row, screen)]),
  )
  return Math.max(0, width)
}
