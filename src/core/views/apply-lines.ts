/** What an apply says, line by line. */

import type { PastOperation } from '../apply/journal/read-journal.ts'
import { byteText, count, formatDuration, present, tally } from '../base/text.ts'
import { causeOf } from '../messages/codes.ts'
import { terminalSafe } from '../messages/terminal-safe.ts'
import type { AnyOperation, AnyPlan, ClusterPlan } from '../plan/cluster-plan.ts'
import { typed } from '../plan/commands.ts'
import {
  type ApplyEvent,
  type ApplyResult,
  type ClusterApplyResult,
  OUTCOME_STATES,
  type Outcome,
  type OutcomeState,
} from '../plan/events.ts'
import { podTextIn, shownVolume } from '../plan/names.ts'
import { type AdviceContext, endOf, SAYS_WHY, withAdvice } from '../plan/next-steps.ts'
import { type NextStep, OPERATION_KINDS, type Plan } from '../plan/plan.ts'
import { isApiContent } from '../plan/plan-summary.ts'
import { podName } from '../volumes/pods.ts'
import { clusterAnswerOf } from './answer/cluster-answer.ts'
import { answerOf } from './answer/make-answer.ts'
import { isOpen } from './answer/needs.ts'
import { nextText, renderAnswer } from './answer-view.ts'
import { downtimeText } from './downtime-view.ts'
import { numbersOf, type Palette, type Screen, type Width, wrapped } from './screen.ts'

export function isEnd(event: ApplyEvent): event is ApplyEvent & { type: OutcomeState } {
  return OUTCOME_STATES.some((state) => state === event.type)
}

const KIND_WIDTH = Math.max(...OPERATION_KINDS.map((kind) => kind.length))
/** What is said about a line stands below its operation. */
const INDENT = ' '.repeat(9)

/**
 * `done     12  UnmountVolume  shop/web-0  data  120ms`; what went wrong, or what is waited for, stands below.
 *
 * @param nameOf the operation of an event by its number and names
 */
export function eventLine(
  event: ApplyEvent,
  nameOf: (event: ApplyEvent) => string,
  { paint, width }: Screen,
): string | undefined {
  const noteLine = (text: string): string =>
    `${wrapped('note     ', text, width, paint.warn)}${hintText(event, INDENT, width)}`
  if (event.type === 'note') return noteLine(event.message)
  // Of the steps only what a person has to know: the rest is for --verbose.
  if (event.type === 'step' && event.code !== undefined)
    return noteLine(`${nameOf(event)}  ${event.code}: ${event.message}`)
  if (!isEnd(event)) return undefined
  const time = event.elapsedMs === undefined ? '' : `  ${formatDuration(event.elapsedMs)}`
  const head = wrapped(`${stateText(event.type, 7, paint)}  `, `${nameOf(event)}${time}`, width)
  if (event.type === 'done') return head
  return `${head}${whyText(event, INDENT, width)}`
}

/** Below an operation that did not end well. */
export function whyText(end: Partial<ApplyEvent>, indent: string, width: Width): string {
  const { code, message = '' } = end
  const text = code === undefined ? message : `${code}: ${message}`
  return `${wrapped(indent, text, width)}${hintText(end, indent, width)}`
}

function hintText({ hint }: Partial<ApplyEvent>, indent: string, width: Width): string {
  return hint === undefined ? '' : wrapped(indent, hint, width)
}

/** The same in a cluster's plan: `1  DetachVolume  node-7  pv-data`. */
export function numberedInCluster({ operations }: Pick<ClusterPlan, 'operations'>) {
  const numbers = numbersOf(operations)
  return ({ id = '', kind, node = '-', volume }: ApplyEvent) =>
    terminalSafe([`${numbers.get(id) ?? '-'}`, kind, node, volume].join('  '))
}

/** Kind, pod and volume of an operation, as the journal names it. */
export function subject({ kind, pod, volume }: Pick<ApplyEvent, 'kind' | 'pod' | 'volume'>): string {
  return partsText(kind, pod && podName(pod), volume)
}

/** The same by the plan's number and names: so the lines and the progress name it. */
export function numbered(plan: Pick<Plan, 'operations'> & Partial<Plan>) {
  const { operations } = plan
  const podText = podTextIn(plan)
  const numbers = numbersOf(operations)
  return ({ id = '', kind, pod, volume }: ApplyEvent) => {
    const number = numbers.get(id) ?? 0
    const operation = operations[number - 1]
    const shown = operation?.volume === undefined ? volume : shownVolume(operation)
    const first = `${number || '-'}`.padEnd(`${operations.length}`.length)
    return `${first}  ${partsText(kind, pod && podText(pod), shown)}`
  }
}

function partsText(kind: ApplyEvent['kind'], pod = '-', volume?: string): string {
  return terminalSafe(present((kind ?? '').padEnd(KIND_WIDTH), pod, volume).join('  '))
}

export function stateText(state: PastOperation['state'], width: number, { good, bad, warn }: Palette): string {
  const colour = state === 'done' ? good : state === 'failed' ? bad : warn
  return colour(state.padEnd(width))
}

/**
 * The end: what was done and deleted, and then the answer of the fresh look: what is left, why, and what to type.
 * @param plan as a person has agreed to it: what it called data is named as data
 */
export function closing(
  { outcomes, interrupted, left, after, downtime }: ApplyResult | ClusterApplyResult,
  plan: Pick<Plan, 'operations' | 'node'> | Pick<ClusterPlan, 'operations'>,
  screen: Screen,
  given: AdviceContext,
): string {
  const { paint, width } = screen
  const answer = after && ('cluster' in after ? clusterAnswerOf(after, given) : answerOf(withAdvice(after, given)))
  const isLeft = after && (isOpen(after) || ('cluster' in after && answer !== undefined && answer.needs.length > 0))
  // What lifts the first thing that failed comes next; of operations that were carried out an outcome has only the ids.
  const failed = outcomes.find(
    ({ state, code }) => (state === 'failed' || state === 'refused') && !PASSES.includes(causeOf(code)),
  )
  const operations: readonly AnyOperation[] = plan.operations
  const operation = operations.find(({ id }) => id === failed?.id)
  // What nobody has looked at again is never called done.
  const next = failed && operation ? [stepAfter(failed, operation, after, given)] : answer?.next
  const parts = answer?.parts.map((part) => (part.name === 'Ready' ? { ...part, name: 'Left' } : part)) ?? []
  const isPart = (after?.summary.filtered ?? 0) > 0
  const nothing = `${isPart ? 'Of what was asked for, nothing' : 'Nothing'} is left to do.\n`
  const rest =
    answer === undefined || next === undefined
      ? nothing
      : (left?.length ?? 0) > 0 || isLeft
        ? `\n${renderAnswer({ ...answer, parts, notes: [], next }, screen, { header: '' })}`
        : `${nothing}${nextText(next, screen)}`
  // Of a plan file: somebody has carried it out before.
  const isAllDone = outcomes.length > 0 && outcomes.every(({ code }) => code === 'AlreadyDone')
  const states = outcomes.map(({ state }) => state)
  const [what, again] = 'node' in plan ? ['node', 'volctl plan'] : ['cluster', 'volctl plan --cluster']
  return [
    '\n',
    wrapped(
      '',
      `Apply: ${tally(states, OUTCOME_STATES) || 'nothing was done'}.${deletedText(outcomes, plan.operations)}`,
      width,
      paint.bold,
    ),
    isAllDone ? wrapped('', 'This plan is already done: of its operations none is left to do.', width) : '',
    interrupted ? wrapped('', 'Interrupted: operations that were not started changed nothing.', width, paint.warn) : '',
    downtime && 'node' in plan ? downtimeText(downtime, plan.node, paint, width) : '',
    left === undefined
      ? wrapped('', `The ${what} was not read again: ${again} shows what is left to do.`, width)
      : rest,
  ].join('')
}

/** Files of config maps and their like lie on disk as data does, and do not count as data. */
function deletedText(outcomes: readonly Outcome[], operations: readonly AnyOperation[]): string {
  const withData = new Set(
    operations.flatMap((each) => ('node' in each || !each.deletes || isApiContent(each.volume) ? [] : each.id)),
  )
  const data = { files: 0, bytes: 0 }
  let copies = 0
  for (const { id, deleted = { files: 0, bytes: 0 } } of outcomes) {
    if (withData.has(id)) {
      data.files += deleted.files
      data.bytes += deleted.bytes
    } else copies += deleted.files
  }
  return present(
    data.files > 0 && ` Deleted ${count(data.files, 'file')}, ${byteText(data.bytes)}.`,
    copies > 0 && ` Removed ${count(copies, 'file')} that the kubelet made.`,
  ).join('')
}

/** Kinds that a fresh plan says all about: something changed, or a kubelet came back. */
const PASSES: readonly ReturnType<typeof causeOf>[] = ['follows', 'kubelet', 'controller']

/** What to type after an operation that failed. */
function stepAfter(
  { code }: Outcome,
  operation: AnyOperation,
  after: AnyPlan | undefined,
  given: AdviceContext,
): NextStep {
  if ('node' in operation) {
    const argv = ['volctl', 'plan', '--cluster', `va/${operation.attachment.name}`]
    return typed({ argv, flags: 'read', why: SAYS_WHY }, given)
  }
  const { id, pod, volume, paths } = operation
  const name = volume?.persistentVolume ?? volume?.name
  if (causeOf(code) === 'in-use' && name !== undefined) {
    const users = after?.operations.find((each: AnyOperation) => each.id === id)?.blocked?.users
    const named = given.applyFlags.includes('--volume') ? [] : ['--volume', name]
    return typed({ first: endOf(users), argv: ['volctl', 'apply', ...named], why: 'does this volume again' }, given)
  }
  const what = pod === undefined ? (name ?? paths[0] ?? '') : podName(pod)
  return typed({ argv: ['volctl', 'explain', what], why: SAYS_WHY }, given)
}
