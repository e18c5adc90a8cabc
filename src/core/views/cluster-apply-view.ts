/** An apply of a cluster on a screen: line by line what became of it, and the end. */

import { count } from '../lang/count.ts'
import { formatDuration } from '../lang/duration.ts'
import type { ClusterPlan } from '../plan/cluster-plan.ts'
import type { ApplyEvent, ClusterApplyResult } from '../plan/events.ts'
import { codeOf, hintOf, INDENT, isEnd, stateText, tally } from './apply-lines.ts'
import type { Screen } from './screen.ts'
import { terminalSafe } from './terminal-safe.ts'
import { wrapped } from './wrap.ts'

type Numbers = ReadonlyMap<string, number>

/** Row numbers of a plan's operations, from 1. */
export function rowNumbers({ operations }: Pick<ClusterPlan, 'operations'>): Numbers {
  return new Map(operations.map(({ id }, index) => [id, index + 1]))
}

/** `done     1  DetachVolume  node-7  pv-data  1.2s`; what went wrong, or what is waited for, stands below. */
export function clusterEventLine(event: ApplyEvent, numbers: Numbers, screen: Screen): string | undefined {
  const { paint, width } = screen
  if (event.type === 'note') return `${wrapped('note     ', event.message, width, paint.warn)}${hintOf(event, width)}`
  // Of the steps only what a person has to know: the rest is for --verbose.
  if (event.type === 'step' && event.code !== undefined)
    return `${wrapped('note     ', `${row(event, numbers)}  ${codeOf(event)}${event.message}`, width, paint.warn)}${hintOf(event, width)}`
  if (!isEnd(event)) return undefined
  const time = event.elapsedMs === undefined ? '' : `  ${formatDuration(event.elapsedMs)}`
  const subject = terminalSafe([event.kind ?? '', event.node ?? '-', event.volume ?? ''].join('  '))
  const head = wrapped(`${stateText(event.type, paint)}  `, `${row(event, numbers)}  ${subject}${time}`, width)
  if (event.type === 'done') return head
  return `${head}${wrapped(INDENT, `${codeOf(event)}${event.message}`, width)}${hintOf(event, width)}`
}

function row({ id = '' }: ApplyEvent, numbers: Numbers): string {
  return `${numbers.get(id) ?? '-'}`
}

export function clusterClosing(result: ClusterApplyResult, { paint, width }: Screen): string {
  const { outcomes, left, after, interrupted } = result
  const next = wrapped('Next: ', 'volctl plan --cluster', undefined, paint.bold)
  return [
    `\n${wrapped('', `Apply: ${tally(outcomes)}.`, width, paint.bold)}`,
    interrupted ? wrapped('', 'Interrupted: operations that were not started changed nothing.', width, paint.warn) : '',
    left === undefined
      ? wrapped('', 'The cluster was not read again: a new plan shows what is left to do.', width)
      : wrapped('', leftText(left.length, after), width),
    (left?.length ?? 1) > 0 ? next : '',
  ].join('')
}

function leftText(left: number, after: ClusterPlan | undefined): string {
  const parts = [
    ...(left > 0 ? [count(left, 'operation')] : []),
    ...((after?.waiting.length ?? 0) > 0 ? [`${after?.waiting.length} waiting`] : []),
    ...((after?.problems.length ?? 0) > 0 ? [count(after?.problems.length ?? 0, 'problem')] : []),
  ]
  return parts.length === 0 ? 'Nothing is left to do.' : `Left: ${parts.join(', ')}.`
}
