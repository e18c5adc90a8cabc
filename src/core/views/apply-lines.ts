/** What an apply says, line by line. */

import { formatDuration } from '../lang/duration.ts'
import type { ApplyEvent, ApplyResult, Outcome, OutcomeState } from '../plan/events.ts'
import { OPERATION_KINDS, type Operation, type Plan } from '../plan/plan.ts'
import { groupedNotes } from './grouped-notes.ts'
import type { Palette } from './palette.ts'
import { groupCounts } from './summary-line.ts'
import { terminalSafe } from './terminal-safe.ts'
import { bytesText, count, podText } from './words.ts'

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

/** `done     UnmountVolume  shop/web-0  pv-a  120ms`; what went wrong stands behind it. */
export function eventLine(event: ApplyEvent, paint: Palette): string | undefined {
  if (event.type === 'note') return `${paint.warn('note')}     ${terminalSafe(event.message)}${hintOf(event)}\n`
  if (!isEnd(event)) return undefined
  const time = event.elapsedMs === undefined ? '' : `  ${formatDuration(event.elapsedMs)}`
  const head = `${stateText(event.type, paint)}  ${subject(event)}${time}`
  return event.type === 'done'
    ? `${head}\n`
    : `${head}\n         ${codeOf(event)}${terminalSafe(event.message)}${hintOf(event)}\n`
}

/** Kind, pod and volume of an operation, as the lines and the progress name it. */
export function subject({ kind, pod, volume }: Pick<ApplyEvent, 'kind' | 'pod' | 'volume'>): string {
  const parts = [(kind ?? '').padEnd(KIND_WIDTH), podText(pod), ...(volume === undefined ? [] : [volume])]
  return terminalSafe(parts.join('  '))
}

function stateText(state: OutcomeState, paint: Palette): string {
  const text = state.padEnd(7)
  if (state === 'done') return paint.good(text)
  return state === 'failed' ? paint.bad(text) : paint.warn(text)
}

function codeOf({ code }: ApplyEvent): string {
  return code === undefined ? '' : `${terminalSafe(code)}: `
}

function hintOf({ hint }: ApplyEvent): string {
  return hint === undefined ? '' : `\n         ${terminalSafe(hint)}`
}

/** The end: what was done and deleted, what did not work, and what is left. */
export function closing(result: ApplyResult, paint: Palette): string {
  const { outcomes, left, after, interrupted } = result
  return [
    `\n${paint.bold(`Apply: ${tally(outcomes)}.`)}${deletedText(outcomes)}\n`,
    interrupted ? paint.warn('Interrupted: operations that were not started changed nothing.\n') : '',
    leftText(left, after, paint),
  ].join('')
}

const ORDER: readonly OutcomeState[] = ['done', 'failed', 'refused', 'skipped', 'interrupted', 'blocked']

function tally(outcomes: readonly Outcome[]): string {
  const parts = ORDER.flatMap((state) => {
    const n = outcomes.filter((outcome) => outcome.state === state).length
    return n > 0 ? [`${n} ${state}`] : []
  })
  return parts.length > 0 ? parts.join(', ') : 'nothing was done'
}

function deletedText(outcomes: readonly Outcome[]): string {
  const deleted = outcomes.flatMap((outcome) => outcome.deleted ?? [])
  const files = deleted.reduce((sum, each) => sum + each.files, 0)
  const bytes = deleted.reduce((sum, each) => sum + each.bytes, 0)
  return files > 0 ? ` Deleted ${count(files, 'file')}, ${bytesText(bytes)}.` : ''
}

function leftText(left: readonly Operation[] | undefined, after: Plan | undefined, paint: Palette): string {
  if (left === undefined) return 'The node was not read again: volctl plan shows what is left to do.\n'
  const waiting = after === undefined || after.waiting.length === 0 ? '' : ` ${after.waiting.length} waiting.`
  if (left.length === 0) return `Nothing is left to do.${waiting}\n`
  const kinds: Partial<Record<Operation['kind'], number>> = {}
  for (const { kind } of left) kinds[kind] = (kinds[kind] ?? 0) + 1
  const notes = left.map(({ kind, blocked, message }) =>
    blocked === undefined ? { code: kind, message } : { ...blocked, code: `${kind}, ${blocked.code}` },
  )
  return `Left: ${groupCounts(kinds).join(', ')}.${waiting}\n${groupedNotes('Left', notes, paint.warn)}`
}
