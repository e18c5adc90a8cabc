/**
 * The table of `volctl status`. Where the terminal is too narrow for every column, the pod becomes the head of its rows; then
 * columns give way (status-columns.ts). With `-o wide` nothing is lost: what gives way, and why the verdict is what it is,
 * stands in words below its row; in a pipe it is one line.
 */
import { podName, podNameAndUid } from '../plan/pod-name.ts'
import { podTexts } from '../plan/pod-texts.ts'
import type { Status, StatusRow } from '../status/status.ts'
import { type Cell, cellText, renderTable, tableWidth } from './render-table.ts'
import type { Screen } from './screen.ts'
import { ALSO, COLUMNS, type Column, WHY } from './status-columns.ts'
import { terminalSafe } from './terminal-safe.ts'
import { textWidth } from './text-width.ts'
import { wrapped } from './wrap.ts'

const POD_HEAD = 'POD'
const NODE_PART = 'on the node'
const GAP = 2
const INDENT = '  '

export function statusTable(status: Status, rows: readonly StatusRow[], screen: Screen): string {
  const { wide, width } = screen
  const names = podTexts(status.rows.flatMap(({ pod }) => pod ?? []))
  const podOf = ({ pod }: StatusRow): string => (pod === undefined ? NODE_PART : wide ? podName(pod) : names(pod))
  const columns = wide ? [...COLUMNS, ALSO] : COLUMNS
  const flat = [{ head: POD_HEAD, cell: podOf }, ...columns]
  const whole = wide ? [...flat, WHY] : flat
  if (width === undefined || widthOf(whole, rows, screen) <= width) return drawn(whole, rows, screen)
  if (wide && widthOf(flat, rows, screen) <= width) {
    const [head = '', ...lines] = linesOf(withWhy(flat, [], INDENT, rows, screen), rows, screen)
    return `${head}\n${lines.join('')}`
  }
  const headOf = (row: StatusRow): string => (wide && row.pod !== undefined ? podNameAndUid(row.pod) : podOf(row))
  return groupedText(columns, rows, headOf, screen)
}

/** What stands beside each other in a row, and what stands below it. */
interface Layout {
  readonly columns: readonly Column[]
  readonly below: (row: StatusRow) => string
}

/** Rows below their pod, the pod with the worst volume first. */
function groupedText(
  columns: readonly Column[],
  rows: readonly StatusRow[],
  headOf: (row: StatusRow) => string,
  screen: Screen,
): string {
  const groups = [...Map.groupBy(rows, ({ pod }) => pod?.uid)]
  const sorted = groups.flatMap(([, own]) => own)
  const shown = fitting(columns, sorted, screen)
  const hidden = columns.filter(({ head }) => !shown.some((column) => column.head === head))
  const layout = screen.wide
    ? withWhy(indented(shown), hidden, INDENT.repeat(2), sorted, screen)
    : { columns: indented(shown), below: () => '' }
  const [head = '', ...lines] = linesOf(layout, sorted, screen)
  let next = 0
  const texts = groups.map(([, own]) => {
    const [first] = own
    const text = lines.slice(next, next + own.length).join('')
    next += own.length
    const heading = first === undefined ? '' : wrapped('', headOf(first), screen.width, screen.paint.bold)
    return `${heading}${text}`
  })
  return `${head}\n${texts.join('')}`
}

/** The head, and the text of each row with what stands below it. */
function linesOf({ columns, below }: Layout, rows: readonly StatusRow[], screen: Screen): string[] {
  const [head = '', ...lines] = drawn(columns, rows, screen).trimEnd().split('\n')
  return [head, ...rows.map((row, index) => `${lines[index] ?? ''}\n${below(row)}`)]
}

/** A reason that is short enough stands in the row itself. @param hidden what has given way */
function withWhy(
  columns: readonly Column[],
  hidden: readonly Column[],
  indent: string,
  rows: readonly StatusRow[],
  screen: Screen,
): Layout {
  const room = (screen.width ?? Number.POSITIVE_INFINITY) - widthOf(columns, rows, screen) - GAP
  const isShort = ({ verdict }: StatusRow): boolean =>
    room >= WHY.head.length && textWidth(terminalSafe(verdict.message)) <= room
  const why: Column = { ...WHY, cell: (row) => (isShort(row) ? row.verdict.message : '') }
  const below = (row: StatusRow): string => {
    const words = hidden.flatMap(({ head, cell }) => {
      const text = cellText(cell(row, screen))
      return text === '' ? [] : [`${head.toLowerCase()}: ${text}`]
    })
    const said = isShort(row) ? [] : [row.verdict.message]
    return [words.join('; '), ...said]
      .filter((text) => text !== '')
      .map((text) => wrapped(indent, text, screen.width, screen.paint.dim))
      .join('')
  }
  return { columns: [...columns, why], below }
}

function indented([first, ...others]: readonly Column[]): Column[] {
  if (first === undefined) return []
  const cell: Column['cell'] = (row, screen) => {
    const text = first.cell(row, screen)
    return typeof text === 'string' ? `${INDENT}${text}` : { ...text, text: `${INDENT}${text.text}` }
  }
  return [{ ...first, head: `${INDENT}${first.head}`, cell }, ...others]
}

/** All but those that have to give way. */
function fitting(columns: readonly Column[], rows: readonly StatusRow[], screen: Screen): readonly Column[] {
  const { width = Number.POSITIVE_INFINITY } = screen
  const rank = ({ stays = 0, tells }: Column): number =>
    stays + (tells !== undefined && rows.some(tells) ? columns.length : 0)
  const order = columns.filter(({ stays }) => stays !== undefined).toSorted((a, b) => rank(a) - rank(b))
  let left = columns
  for (const column of order) {
    if (widthOf(indented(left), rows, screen) <= width) return left
    left = left.filter((each) => each !== column)
  }
  return left
}

function drawn(columns: readonly Column[], rows: readonly StatusRow[], screen: Screen): string {
  return renderTable(...cellsOf(columns, rows, screen))
}

function widthOf(columns: readonly Column[], rows: readonly StatusRow[], screen: Screen): number {
  return tableWidth(...cellsOf(columns, rows, screen))
}

function cellsOf(columns: readonly Column[], rows: readonly StatusRow[], screen: Screen): [string[], Cell[][]] {
  return [columns.map(({ head }) => head), rows.map((row) => columns.map(({ cell }) => cell(row, screen)))]
}
