/**
 * The table of `volctl status`, of either scope. Where the terminal is too narrow, columns give way; where even that does not help,
 * the pod or node becomes the head of its rows. With `-o wide` nothing is lost: what gives way, and why the verdict is what it is,
 * stands in words below its row.
 */
import { type Cell, cellText, renderTable, tableWidth } from './render-table.ts'
import type { Screen } from './screen.ts'
import { wrapped } from './wrap.ts'

export interface Column<R> {
  readonly head: string
  readonly cell: (row: R, screen: Screen) => Cell
  /** The lowest gives way first; absent: it stays. */
  readonly stays?: number
  /** A row of which the column tells something that is wrong: the column then gives way after all others. */
  readonly tells?: (row: R) => boolean
}

export interface TableForm<R> {
  /** The pod or node of a row. */
  readonly owner: Column<R>
  readonly columns: readonly Column<R>[]
  /** Only with -o wide. */
  readonly also: readonly Column<R>[]
}

interface Judged {
  readonly verdict: { readonly message: string }
}

const INDENT = '  '

export function statusTable<R extends Judged>(form: TableForm<R>, rows: readonly R[], screen: Screen): string {
  const { wide, width = Number.POSITIVE_INFINITY, paint } = screen
  const columns = wide ? [...form.columns, ...form.also] : form.columns
  const flat = [form.owner, ...columns]
  const why: Column<R> = { head: 'WHY', cell: ({ verdict }) => verdict.message }
  const whole = wide ? [...flat, why] : flat
  if (widthOf(whole, rows, screen) <= width) return renderTable(...cellsOf(whole, rows, screen))
  const narrow = fitting(flat, rows, screen)
  const isGrouped = widthOf(narrow, rows, screen) > width
  const shown = isGrouped ? fitting(indented(columns), rows, screen) : narrow
  const sorted = isGrouped ? ownersOf(form, rows, screen).flatMap(([, own]) => own) : rows
  const hidden = columns.filter(({ head }) => !shown.some((column) => column.head.trim() === head))
  const [head = '', ...lines] = renderTable(...cellsOf(shown, sorted, screen))
    .trimEnd()
    .split('\n')
  let last: string | undefined
  const texts = sorted.map((row, index) => {
    const owner = cellText(form.owner.cell(row, screen))
    const heading = isGrouped && owner !== last ? wrapped('', owner, screen.width, paint.bold) : ''
    last = owner
    return `${heading}${lines[index] ?? ''}\n${wide ? below(row, hidden, screen) : ''}`
  })
  return `${head}\n${texts.join('')}`
}

/** The owner of the worst row first. */
function ownersOf<R>({ owner }: TableForm<R>, rows: readonly R[], screen: Screen): (readonly [string, readonly R[]])[] {
  return [...Map.groupBy(rows, (row) => cellText(owner.cell(row, screen)))]
}

function below<R extends Judged>(row: R, hidden: readonly Column<R>[], screen: Screen): string {
  const words = hidden.flatMap(({ head, cell }) => {
    const text = cellText(cell(row, screen))
    return text === '' ? [] : [`${head.toLowerCase()}: ${text}`]
  })
  return [words.join('; '), row.verdict.message]
    .filter((text) => text !== '')
    .map((text) => wrapped(INDENT.repeat(2), text, screen.width, screen.paint.dim))
    .join('')
}

function indented<R>([first, ...others]: readonly Column<R>[]): Column<R>[] {
  if (first === undefined) return []
  const cell: Column<R>['cell'] = (row, screen) => {
    const text = first.cell(row, screen)
    return typeof text === 'string' ? `${INDENT}${text}` : { ...text, text: `${INDENT}${text.text}` }
  }
  return [{ ...first, head: `${INDENT}${first.head}`, cell }, ...others]
}

/** All but those that have to give way. */
function fitting<R>(columns: readonly Column<R>[], rows: readonly R[], screen: Screen): readonly Column<R>[] {
  const { width = Number.POSITIVE_INFINITY } = screen
  const rank = ({ stays = 0, tells }: Column<R>): number =>
    stays + (tells !== undefined && rows.some(tells) ? columns.length : 0)
  const order = columns.filter(({ stays }) => stays !== undefined).toSorted((a, b) => rank(a) - rank(b))
  let left = columns
  for (const column of order) {
    if (widthOf(left, rows, screen) <= width) return left
    left = left.filter((each) => each !== column)
  }
  return left
}

function widthOf<R>(columns: readonly Column<R>[], rows: readonly R[], screen: Screen): number {
  return tableWidth(...cellsOf(columns, rows, screen))
}

function cellsOf<R>(columns: readonly Column<R>[], rows: readonly R[], screen: Screen): [string[], Cell[][]] {
  return [columns.map(({ head }) => head), rows.map((row) => columns.map(({ cell }) => cell(row, screen)))]
}
