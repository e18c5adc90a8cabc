/** The counts, in one line, that add up. */
import { count } from '../lang/count.ts'
import type { Cause } from '../plan/cause.ts'
import type { ClusterPlan } from '../plan/cluster-plan.ts'
import type { LiftingFlag, Operation, Plan, Problem } from '../plan/plan.ts'
import { liftingFlag, readyAmong } from '../plan/plan-summary.ts'

/** A plan of either scope, as far as it is counted. */
type Counted = Pick<Plan | ClusterPlan, 'operations' | 'refused' | 'waiting' | 'complete'> & {
  readonly problems: readonly Pick<Problem, 'severity'>[]
  readonly summary: Pick<Plan['summary'], 'filtered'>
}

/** `44 operations: 34 ready, 9 wait for loop.pg.test, 1 needs --orphans`. */
export function countsText(plan: Plan): string {
  return countsOf(plan, () => partsOf(plan), 'on this node')
}

/**
 * @param parts what the operations are in, with their numbers
 * @param where all volumes are
 */
export function countsOf(plan: Counted, parts: () => readonly string[], where: string): string {
  const { operations, refused, waiting, problems, complete, summary } = plan
  const filtered = summary.filtered > 0 ? [`${summary.filtered} left out by flags`] : []
  const total = count(operations.length, 'operation')
  if (refused !== undefined) return `Refused: nothing is done${operations.length === 0 ? '' : `; ${total} blocked`}`
  if (operations.length > 0) return [`${total}: ${parts().join(', ')}`, ...filtered].join('; ')
  if (problems.some(({ severity }) => severity === 'error'))
    return `${['Nothing is ready: see above', ...filtered].join('; ')}.`
  if (waiting.length > 0) return `${[`Nothing to do yet: ${waiting.length} waiting`, ...filtered].join('; ')}.`
  if (filtered.length > 0) return `Nothing to do under these flags: ${filtered.join('')}.`
  if (!complete) return 'Nothing to do: no operation is needed, as far as volctl could read.'
  return problems.some(({ severity }) => severity === 'warning')
    ? 'No operation is needed: see above.'
    : `Nothing to do: every volume ${where} is as it should be.`
}

function partsOf({ operations, summary }: Plan): string[] {
  const ready = readyAmong(operations)
  const causes = new Map((summary.causes ?? []).map((cause) => [cause.key, cause]))
  const waiting = operations.filter(({ id }) => !ready.has(id))
  const why = new Map<string, number>()
  for (const operation of waiting) {
    const text = whyNot(operation, causes)
    why.set(text, (why.get(text) ?? 0) + 1)
  }
  const sorted = [...why].toSorted(([, a], [, b]) => b - a)
  return [
    ...(ready.size > 0 ? [`${ready.size} ready`] : []),
    ...sorted.map(([text, n]) => `${n} ${n === 1 ? text : text.replace(/^(\w+)s /, '$1 ')}`),
  ]
}

const ORPHANS: LiftingFlag = '--orphans'

/** In the singular: `waits for loop.pg.test`, `needs --orphans`. */
function whyNot(operation: Operation, causes: ReadonlyMap<string, Cause>): string {
  const flag = liftingFlag(operation)
  const cause = causes.get(operation.blocked?.cause ?? '')
  if (flag !== undefined) return `needs ${flag}`
  if (cause === undefined) return 'waits for another'
  if (cause.kind === 'data') return `needs ${ORPHANS}`
  if (cause.subject.driver !== undefined) return `waits for ${cause.subject.driver}`
  return 'needs you first'
}

/** Errors and waits that are there though no operation is left. */
export function openText({
  refused,
  problems,
  waiting,
}: Omit<Counted, 'operations' | 'summary' | 'complete'>): string[] {
  const errors = problems.filter(({ severity }) => severity === 'error').length
  return [
    ...(refused === undefined ? [] : [`refused (${refused.code})`]),
    ...(errors > 0 ? [count(errors, 'error')] : []),
    ...(waiting.length > 0 ? [`${waiting.length} waiting`] : []),
  ]
}
