/**
 * `volctl status` on a screen: a row for each volume, the worst first; what is good is only counted, and config maps and
 * their like of one pod are one row, unless all is asked for. The last line counts, and says what to type next.
 */

import type { Answer } from '../answer/answer.ts'
import { count } from '../lang/count.ts'
import type { Status, StatusRow } from '../status/status.ts'
import { nextText, renderAnswer } from './answer-view.ts'
import type { Screen } from './screen.ts'
import { colourOf, isInUseDoubtful, VERDICTS } from './status-columns.ts'
import { foldContent } from './status-folds.ts'
import { statusTable } from './status-table.ts'
import { KUBELET_STATES, seconds } from './words.ts'
import { wrapped } from './wrap.ts'

export interface StatusOptions {
  /** Show what is good, too. */
  readonly all: boolean
  /** What to add to a command: the snapshot that was read. */
  readonly suffix: string
  /** Of the whole node. */
  readonly answer?: Answer | undefined
  /** Where its commands are typed, if that is not here. */
  readonly place?: string | undefined
}

/** What is good is only counted, unless all is asked for, or the Node's status says otherwise of its use. */
export function shownRows(rows: readonly StatusRow[], all: boolean): readonly StatusRow[] {
  return all ? rows : rows.filter((row) => row.verdict.state !== 'good' || isInUseDoubtful(row))
}

/** The answer of the plan above the table; of what was asked for by name the table alone. */
export function renderStatus(status: Status, screen: Screen, { all, suffix, answer, place }: StatusOptions): string {
  const { rows, node, createdAt, kubelet, refused } = status
  const { width, paint } = screen
  const unfolded = all || screen.wide
  const shown = shownRows(rows, unfolded)
  const table =
    shown.length === 0
      ? ''
      : `${statusTable(status, unfolded ? shown : foldContent(shown), screen)}${foldedText(rows.length - shown.length)}`
  const counts = lastLines(status)
    .map((line) => wrapped('', line, width, paint.bold))
    .join('')
  if (answer !== undefined) {
    const { ready: _, ...told } = answer
    const more = table === '' ? [] : [table]
    return renderAnswer(told, screen, { unfolded, place, more, end: `${counts}${nextText(answer.next, screen)}` })
  }
  const unit = kubelet.unit === undefined ? '' : ` (${kubelet.unit})`
  const head = `Node ${node}, kubelet ${KUBELET_STATES[kubelet.state]}${unit}, as of ${seconds(createdAt)}`
  const next =
    status.next === undefined ? '' : wrapped('Next: ', `volctl ${status.next.join(' ')}${suffix}`, width, paint.bold)
  return [
    wrapped('', head, width, paint.bold),
    refused === undefined ? '' : wrapped('Refused: ', refused.message, width, paint.bad),
    table === '' ? '' : `\n${table}`,
    screen.wide ? '' : whyText(shown, screen),
    problemsText(status, screen),
    `\n${counts}${next}`,
  ].join('')
}

function foldedText(folded: number): string {
  return folded === 0 ? '' : `and ${count(folded, 'volume')} that ${folded === 1 ? 'is' : 'are'} good (-v shows them)\n`
}

const MOST_CODES = 5

/** What the codes of the table mean here: the first message of each. */
function whyText(rows: readonly StatusRow[], screen: Screen): string {
  const coded = rows.filter(({ verdict }) => verdict.state !== 'good' && verdict.code !== undefined)
  const groups = [...Map.groupBy(coded, ({ verdict }) => verdict.code)]
  if (groups.length === 0) return ''
  const lines = groups.slice(0, MOST_CODES).map(([code, alike]) => {
    const [first] = alike
    if (first === undefined) return ''
    const messages = new Set(alike.map(({ verdict }) => verdict.message))
    const more = messages.size === 1 ? '' : ` (and ${messages.size - 1} more like it)`
    return wrapped(
      '  ',
      `${code}: ${first.verdict.message}${more}`,
      screen.width,
      colourOf(first.verdict.state, screen),
    )
  })
  const rest = groups.length - MOST_CODES
  return `\nWhy:\n${lines.join('')}${rest > 0 ? `  and ${count(rest, 'more code')}: -o wide\n` : ''}`
}

/** What is wrong with the node, and with no single volume. */
function problemsText({ problems }: Status, { width, paint }: Screen): string {
  const serious = problems.filter(({ severity }) => severity !== 'info')
  if (serious.length === 0) return ''
  const lines = serious.map(({ severity, code, message }) =>
    wrapped('  ', `${severity} ${code}: ${message}`, width, severity === 'error' ? paint.bad : paint.warn),
  )
  return `\nOf the node:\n${lines.join('')}`
}

function lastLines({ rows, summary, complete }: Status): string[] {
  const { verdicts, orphanedPods, filtered } = summary
  const bad = Object.entries(VERDICTS).flatMap(([state, word]) => {
    const n = verdicts[state as keyof typeof verdicts] ?? 0
    return n === 0 || state === 'good' ? [] : [`${n} ${word}`]
  })
  const good = verdicts.good ?? 0
  const fine = good === 0 ? [] : [bad.length === 0 ? 'all are as they should be' : `${good} good`]
  const counted = rows.length === 0 ? 'No volumes' : `${count(rows.length, 'volume')}: ${[...bad, ...fine].join(', ')}`
  const more = [
    ...(orphanedPods > 0 ? [count(orphanedPods, 'orphaned pod')] : []),
    ...(filtered > 0 ? [`${filtered} left out by names`] : []),
  ]
  return [
    ...(complete ? [] : ['Not complete: something that may matter could not be read.']),
    `${[counted, ...more].join('; ')}.`,
  ]
}
