/** What an apply says, line by line. */

import type { Answer } from '../answer/answer.ts'
import { nextAfter } from '../answer/apply-end.ts'
import { openText } from '../answer/counts.ts'
import { answerOf } from '../answer/make-answer.ts'
import { byteText } from '../lang/byte-text.ts'
import { count } from '../lang/count.ts'
import { formatDuration } from '../lang/duration.ts'
import { isApiContent } from '../plan/api-content.ts'
import type { ApplyEvent, ApplyResult, Outcome, OutcomeState } from '../plan/events.ts'
import { type Given, withAdvice } from '../plan/next-steps.ts'
import { DEFAULT_SETTLE_MS, OPERATION_KINDS, type Plan } from '../plan/plan.ts'
import { type PlanNames, shownVolume } from '../plan/plan-names.ts'
import { nextText, renderAnswer } from './answer-view.ts'
import { downtimeText } from './downtime-view.ts'
import type { Palette } from './palette.ts'
import type { Screen } from './screen.ts'
import { terminalSafe } from './terminal-safe.ts'
import { podText } from './words.ts'
import { type Width, wrapped } from './wrap.ts'

const ENDS: ReadonlySet<string> = new Set<OutcomeState>([
  'done',
  'failed',
  'blocked',
  'refused',
  'skipped',
  'interrupted',
])

export function isEnd(event: ApplyEvent): event is ApplyEvent & { type: OutcomeState } {
  return ENDS.has(event.type)
}

const KIND_WIDTH = Math.max(...OPERATION_KINDS.map((kind) => kind.length))
/** What is said about a line stands below its operation. */
export const INDENT = ' '.repeat(9)

/** `done     12  UnmountVolume  shop/web-0  data  120ms`, by the plan's numbers and names; what went wrong stands below. */
export function eventLine(event: ApplyEvent, names: PlanNames, { paint, width }: Screen): string | undefined {
  if (event.type === 'note') return `${wrapped('note     ', event.message, width, paint.warn)}${hintOf(event, width)}`
  if (!isEnd(event)) return undefined
  const time = event.elapsedMs === undefined ? '' : `  ${formatDuration(event.elapsedMs)}`
  const head = wrapped(`${stateText(event.type, paint)}  `, `${numbered(event, names)}${time}`, width)
  if (event.type === 'done') return head
  return `${head}${wrapped(INDENT, `${codeOf(event)}${event.message}`, width)}${hintOf(event, width)}`
}

/** Kind, pod and volume of an operation, as the journal names it. */
export function subject({ kind, pod, volume }: Pick<ApplyEvent, 'kind' | 'pod' | 'volume'>): string {
  return partsText(kind, podText(pod), volume)
}

/** The same by the plan's number and names: so the lines and the progress name it. */
export function numbered(event: ApplyEvent, names: PlanNames): string {
  const { id = '', kind, pod, volume } = event
  const operation = names.operation(id)
  const number = `${names.number(id) ?? '-'}`.padEnd(names.numberWidth)
  const shown = operation?.volume === undefined ? volume : shownVolume(operation)
  return `${number}  ${partsText(kind, pod === undefined ? '-' : names.podText(pod), shown)}`
}

function partsText(kind: ApplyEvent['kind'], pod: string, volume: string | undefined): string {
  return terminalSafe([(kind ?? '').padEnd(KIND_WIDTH), pod, ...(volume === undefined ? [] : [volume])].join('  '))
}

export function stateText(state: OutcomeState, paint: Palette): string {
  const text = state.padEnd(7)
  if (state === 'done') return paint.good(text)
  return state === 'failed' ? paint.bad(text) : paint.warn(text)
}

export function codeOf({ code }: ApplyEvent): string {
  return code === undefined ? '' : `${code}: `
}

export function hintOf({ hint }: ApplyEvent, width: Width): string {
  return hint === undefined ? '' : wrapped(INDENT, hint, width)
}

/**
 * The end: what was done and deleted, and then the answer of the fresh look: what is left, why, and what to type.
 * @param plan as a person has agreed to it: what it called data is named as data
 */
export function closing(
  result: ApplyResult,
  plan: Pick<Plan, 'operations' | 'node'>,
  screen: Screen,
  given: Given = { words: [], settleMs: DEFAULT_SETTLE_MS },
): string {
  const { paint, width } = screen
  const { outcomes, interrupted, downtime } = result
  return [
    '\n',
    wrapped('', `Apply: ${tally(outcomes)}.${deletedText(outcomes, plan)}`, width, paint.bold),
    isAllDone(outcomes)
      ? wrapped('', 'This plan is already done: of its operations none is left to do on this node.', width)
      : '',
    interrupted ? wrapped('', 'Interrupted: operations that were not started changed nothing.', width, paint.warn) : '',
    downtime === undefined ? '' : downtimeText(downtime, plan.node, paint, width),
    leftText(result, plan, screen, given),
  ].join('')
}

/** Of a plan file: somebody has carried it out before. */
function isAllDone(outcomes: readonly Outcome[]): boolean {
  return outcomes.length > 0 && outcomes.every(({ code }) => code === 'AlreadyDone')
}

const ORDER: readonly OutcomeState[] = ['done', 'failed', 'refused', 'skipped', 'interrupted', 'blocked']

export function tally(outcomes: readonly Outcome[]): string {
  const parts = ORDER.flatMap((state) => {
    const n = outcomes.filter((outcome) => outcome.state === state).length
    return n > 0 ? [`${n} ${state}`] : []
  })
  return parts.length > 0 ? parts.join(', ') : 'nothing was done'
}

/** Files of config maps and their like lie on disk as data does, and are none. */
function deletedText(outcomes: readonly Outcome[], { operations }: Pick<Plan, 'operations'>): string {
  const withData = new Set(
    operations.flatMap(({ id, volume, deletes }) => (deletes === undefined || isApiContent(volume) ? [] : id)),
  )
  const data = { files: 0, bytes: 0 }
  let copies = 0
  for (const { id, deleted = { files: 0, bytes: 0 } } of outcomes) {
    if (withData.has(id)) {
      data.files += deleted.files
      data.bytes += deleted.bytes
    } else copies += deleted.files
  }
  return [
    data.files > 0 ? ` Deleted ${count(data.files, 'file')}, ${byteText(data.bytes)}.` : '',
    copies > 0 ? ` Removed ${count(copies, 'file')} that the kubelet made.` : '',
  ].join('')
}

function leftText(result: ApplyResult, plan: Pick<Plan, 'operations'>, screen: Screen, given: Given): string {
  const { left, after } = result
  if (left === undefined)
    return wrapped('', 'The node was not read again: volctl plan shows what is left to do.', screen.width)
  if (after === undefined) return 'Nothing is left to do.\n'
  const advised = withAdvice(after, given)
  const next = nextAfter(result, plan, advised)
  const isOpen = left.length > 0 || openText(after).length > 0
  const answer: Answer = { ...answerOf(advised), notes: [], next }
  return isOpen
    ? `\n${renderAnswer(answer, screen, { header: '', ready: 'Left' })}`
    : `Nothing is left to do.\n${nextText(next, screen)}`
}
