/**
 * `volctl status` on a screen: the answer, and below what needs a person a row for each volume, the worst first. What
 * is good is only counted, and as many rows are shown as leave room for the answer, unless all is asked for.
 */
import type { Answer } from '../answer/answer.ts'
import { rowSays } from '../answer/row-says.ts'
import { count } from '../lang/count.ts'
import { isApiContent } from '../plan/api-content.ts'
import type { Plan } from '../plan/plan.ts'
import type { Status, StatusRow, VerdictState } from '../status/status.ts'
import { nextText, renderAnswer } from './answer-view.ts'
import { columnsTable } from './columns-table.ts'
import type { Screen } from './screen.ts'
import { screenLines } from './screen-lines.ts'
import { isInUseDoubtful, nodeTable } from './status-columns.ts'
import { wrapped } from './wrap.ts'

export interface StatusOptions {
  /** Show what is good, and every row. */
  readonly all: boolean
  /** That the status was made with. */
  readonly plan: Plan
  readonly answer: Answer
  /** Where its commands are typed, if that is not here. */
  readonly place?: string | undefined
}

/** What is good is only counted, unless all is asked for, or the Node's status says otherwise of its use. */
export function shownRows(rows: readonly StatusRow[], all: boolean): readonly StatusRow[] {
  return all ? rows : rows.filter((row) => row.verdict.state !== 'good' || isInUseDoubtful(row))
}

/** However little room there is. */
const LEAST_LINES = 4
/** What a person reads of a pipe at a time. */
const PIPE_LINES = 40

export function renderStatus(status: Status, screen: Screen, { all, plan, answer, place }: StatusOptions): string {
  const unfolded = all || screen.wide
  const { ready: _, ...told } = answer
  const counts = wrapped('', countsLine(status, answer.needs.length === 0), screen.width, screen.paint.bold)
  const end = `${counts}${nextText(answer.next, screen)}`
  const withTable = (table: string): string =>
    renderAnswer(told, screen, { unfolded, place, more: table === '' ? [] : [table], end })
  if (unfolded) return withTable(tableOf(status, plan, screen, { unfolded }))
  // The prompt and the blank line above the table.
  const room = (screen.rows ?? PIPE_LINES) - screenLines(withTable(''), screen.width) - 2
  return withTable(tableOf(status, plan, screen, { unfolded, lines: Math.max(LEAST_LINES, room) }))
}

interface Fold {
  readonly unfolded: boolean
  /** That it may take; absent: any number. */
  readonly lines?: number
}

function tableOf(status: Status, plan: Plan, screen: Screen, fold: Fold): string {
  const shown = shownRows(status.rows, fold.unfolded)
  const form = nodeTable(status.rows, rowSays(plan), screen)
  const folded = fold.unfolded ? shown : foldContent(shown)
  return fitted(folded, status.rows.length - shown.length + folded.length, fold, (rows) =>
    columnsTable(form, rows, screen),
  )
}

/** @param all rows, those included that are good */
function fitted(
  shown: readonly StatusRow[],
  all: number,
  { lines }: Fold,
  draw: (rows: readonly StatusRow[]) => string,
): string {
  if (shown.length === 0) return ''
  const good = all - shown.length
  const [are, them] = good === 1 ? ['is', 'it'] : ['are', 'them']
  const foot = good === 0 ? '' : `and ${count(good, 'volume')} that ${are} good (-v shows ${them})\n`
  let rows = lines === undefined ? shown : shown.slice(0, lines)
  for (;;) {
    const more = shown.length - rows.length
    const text = `${draw(rows)}${more === 0 ? foot : `and ${more + good} more (-v shows them)\n`}`
    const excess = lines === undefined ? 0 : text.split('\n').length - 1 - lines
    if (excess <= 0 || rows.length === 1) return text
    rows = rows.slice(0, Math.max(1, rows.length - excess))
  }
}

/** Config maps and their like of one pod that share one fate are one row, in the place of the first. */
function foldContent(rows: readonly StatusRow[]): readonly StatusRow[] {
  const groups = Map.groupBy(rows, likeness)
  return rows.flatMap((row) => {
    const [first, ...others] = groups.get(likeness(row)) ?? []
    if (others.length === 0) return row
    const name = `${others.length + 1} config volumes`
    return first === row ? { ...row, podVolumeNames: [name], volume: { ...row.volume, name, plugin: '' } } : []
  })
}

function likeness(row: StatusRow): unknown {
  const { pod, volume, desired, mounted, dead, due, verdict, causes } = row
  if (pod === undefined || !isApiContent(volume)) return row
  return JSON.stringify([pod.uid, desired, mounted, dead, due, verdict.state, causes])
}

const COUNTED: Readonly<Record<Exclude<VerdictState, 'good'>, string>> = {
  error: 'error',
  blocked: 'blocked',
  unknown: 'unknown',
  waiting: 'waiting',
  operation: 'ready',
  notAsked: 'not asked',
  warning: 'warning',
  kept: 'left alone',
}

/** @param isWell nothing needs a person */
function countsLine({ rows, summary }: Status, isWell: boolean): string {
  const bad = Object.entries(COUNTED).flatMap(([state, word]) => {
    const n = summary.verdicts[state as VerdictState] ?? 0
    return n === 0 ? [] : [`${n} ${word}`]
  })
  const { good = 0 } = summary.verdicts
  const fine = good === 0 ? [] : [bad.length === 0 && isWell ? 'all are as they should be' : `${good} good`]
  const counted = [
    rows.length === 0 ? 'No volumes' : `${count(rows.length, 'volume')}: ${[...bad, ...fine].join(', ')}`,
    ...(summary.orphanedPods > 0 ? [count(summary.orphanedPods, 'orphaned pod')] : []),
    ...(summary.filtered > 0 ? [`${summary.filtered} left out by names`] : []),
  ]
  return `${counted.join('; ')}.`
}
