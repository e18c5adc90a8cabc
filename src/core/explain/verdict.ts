/** What becomes of it, in one line (operation, blocked, waiting, problem, or nothing and why). */

import type { BlockCode } from '../codes/codes.ts'
import { defined } from '../lang/defined.ts'
import type { Operation, Problem, Severity, Waiting } from '../plan/plan.ts'
import type { Decision } from '../reconcile/decisions.ts'
import type { Concern } from './concerns.ts'
import type { Verdict } from './explanation.ts'

/**
 * @param nothing the planner's word for it, where nothing is to be done
 * @param untouchable of a pod that must not be touched: why, whatever else is said of its volumes
 */
export function verdictOf(
  { operations, waiting, problems, decisions }: Concern,
  nothing: Because,
  untouchable?: Verdict,
): Verdict {
  const runnable = operations.filter(({ blocked }) => blocked === undefined)
  const blocked = operations.filter((operation) => operation.blocked !== undefined)
  const [first] = runnable
  if (first !== undefined) return ofOperations(first, runnable, also(blocked, waiting))
  const [wrong] = ofSeverity(problems, 'error')
  // What is only not asked for is no answer where something is wrong.
  const isOnlyNotAsked = blocked.every((each) => each.blocked !== undefined && NOT_ASKED.has(each.blocked.code))
  if (wrong !== undefined && isOnlyNotAsked) return ofProblem(wrong)
  const [stuck] = blocked
  if (stuck?.blocked !== undefined) {
    const { code, message } = stuck.blocked
    const what =
      blocked.length === 1
        ? `${stuck.kind} is needed, but blocked`
        : `${blocked.length} operations are needed (${kindsOf(blocked)}), but blocked`
    return { state: 'blocked', message: `${what}${also([], waiting)}: ${message}`, code, rule: stuck.rule }
  }
  if (untouchable !== undefined) return untouchable
  const [wait] = waiting
  if (wait !== undefined) {
    const what = waiting.length === 1 ? `${wait.kind} waits` : `${waiting.length} operations wait`
    return { state: 'waiting', message: `${what}: ${wait.message}`, code: wait.code, rule: wait.rule }
  }
  const unknown = decisions.find(({ obstacle }) => obstacle !== undefined)
  if (unknown?.obstacle !== undefined) {
    const { code, message } = unknown.obstacle
    return { state: 'problem', message: `left alone: ${message}`, code, rule: unknown.rule }
  }
  // What is only noted is no reason to worry.
  const [doubtful] = ofSeverity(problems, 'warning')
  if (doubtful !== undefined) return ofProblem(doubtful)
  const { why, rule } = nothing
  return { state: 'nothing', message: `nothing to do: ${why}`, ...defined({ rule }) }
}

/** A decision of the planner; without a rule where there was nothing to decide. */
export type Because = Pick<Decision, 'why'> & Partial<Pick<Decision, 'rule'>>

/** Blocked for a flag that was not given, and for nothing else. */
const NOT_ASKED: ReadonlySet<BlockCode> = new Set(['NotAsked', 'DeletesData'])

function ofSeverity(problems: readonly Problem[], severity: Severity): Problem[] {
  return problems.filter((problem) => problem.severity === severity)
}

function ofProblem({ message, code }: Problem): Verdict {
  return { state: 'problem', message, code }
}

function ofOperations(first: Operation, runnable: readonly Operation[], rest: string): Verdict {
  const message =
    runnable.length === 1
      ? `${first.kind} planned${rest}: ${first.message}`
      : `${runnable.length} operations planned (${kindsOf(runnable)})${rest}: ${first.message}`
  return { state: 'operation', message, code: first.reason, rule: first.rule }
}

/** Operations and waits beside those that the verdict is about. */
function also(blocked: readonly Operation[], waiting: readonly Waiting[]): string {
  const codes = (list: readonly { readonly code: string }[]): string =>
    [...new Set(list.map(({ code }) => code))].join(', ')
  return [
    ...(blocked.length === 0
      ? []
      : [`${blocked.length} blocked (${codes(blocked.flatMap((each) => each.blocked ?? []))})`]),
    ...(waiting.length === 0 ? [] : [`${waiting.length} waiting (${codes(waiting)})`]),
  ]
    .map((text) => `, ${text}`)
    .join('')
}

function kindsOf(operations: readonly Operation[]): string {
  return [...Map.groupBy(operations, ({ kind }) => kind)]
    .map(([kind, own]) => (own.length === 1 ? kind : `${own.length} ${kind}`))
    .join(', ')
}
