/** What an apply says, line by line. */

import { count } from '../lang/count.ts'
import { formatDuration } from '../lang/duration.ts'
import type { ApplyEvent, ApplyResult, Outcome, OutcomeState } from '../plan/events.ts'
import { OPERATION_KINDS, type Operation, type Plan } from '../plan/plan.ts'
import { isApiContent } from '../plan/plan-groups.ts'
import { type PlanNames, shownVolume } from '../plan/plan-names.ts'
import { groupedNotes } from './grouped-notes.ts'
import type { Palette } from './palette.ts'
import type { Screen } from './screen.ts'
import { groupCounts, openText } from './summary-line.ts'
import { terminalSafe } from './terminal-safe.ts'
import { bytesText, podText } from './words.ts'
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
 * The end: what was done and deleted, what did not work, what is left, and what to type next.
 * @param plan as a person has agreed to it: what it called data is named as data
 */
export function closing(result: ApplyResult, plan: Pick<Plan, 'operations'>, { paint, width }: Screen): string {
  const { outcomes, left, after, interrupted } = result
  return [
    '\n',
    wrapped('', `Apply: ${tally(outcomes)}.${deletedText(outcomes, plan)}`, width, paint.bold),
    isAllDone(outcomes)
      ? wrapped('', 'This plan is already done: of its operations none is left to do on this node.', width)
      : '',
    interrupted ? wrapped('', 'Interrupted: operations that were not started changed nothing.', width, paint.warn) : '',
    leftText(left, after, paint, width),
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
    data.files > 0 ? ` Deleted ${count(data.files, 'file')}, ${bytesText(data.bytes)}.` : '',
    copies > 0 ? ` Removed ${count(copies, 'file')} that the kubelet made.` : '',
  ].join('')
}

function leftText(
  left: readonly Operation[] | undefined,
  after: Plan | undefined,
  paint: Palette,
  width: Width,
): string {
  if (left === undefined)
    return wrapped('', 'The node was not read again: volctl plan shows what is left to do.', width)
  const open = after === undefined ? [] : openText(after)
  const next = wrapped('Next: ', 'volctl plan', undefined, paint.bold)
  if (left.length === 0 && open.length === 0) return 'Nothing is left to do.\n'
  if (left.length === 0) return `${wrapped('', `No operation is left: ${open.join('; ')}.`, width)}${next}`
  const kinds: Partial<Record<Operation['kind'], number>> = {}
  for (const { kind } of left) kinds[kind] = (kinds[kind] ?? 0) + 1
  const notes = left.map(({ kind, blocked, message }) =>
    blocked === undefined ? { code: kind, message } : { ...blocked, code: `${kind}, ${blocked.code}` },
  )
  const head = wrapped('', `Left: ${[groupCounts(kinds).join(', '), ...open].join('; ')}.`, width)
  return `${head}${groupedNotes('Left', notes, paint.warn, width)}${next}`
}
