import { count } from '../lang/count.ts'
import type { ClusterPlan } from '../plan/cluster-plan.ts'
import type { Plan, Severity } from '../plan/plan.ts'

/** A plan of either scope, as far as it is counted. */
type Counted = Pick<Plan | ClusterPlan, 'operations' | 'waiting' | 'complete' | 'refused'> & {
  readonly problems: readonly { readonly severity: Severity }[]
  readonly summary: Pick<Plan['summary'], 'waiting' | 'problems' | 'filtered' | 'ready' | 'freedBy'>
}

/** The plan's last line: operations, of which some are ready and the others blocked; then what waits or is wrong. */
export function summaryLine(plan: Counted, where = 'on this node'): string {
  const { refused } = plan
  if (refused === undefined) return verdictOf(plan, where)
  const counts = [...operationsText(plan), ...restOf(plan)]
  const more = counts.length === 0 ? '' : ` ${counts.join('; ')}.`
  return `Refused (${refused.code}): ${refused.message.replace(/\.?$/, '.')}${more}`
}

function verdictOf(plan: Counted, where: string): string {
  const { operations, problems, waiting, complete } = plan
  const rest = restOf(plan)
  if (operations.length > 0) return `${[...operationsText(plan), ...rest].join('; ')}.`
  if (problems.some(({ severity }) => severity === 'error')) {
    const worst = [...problemsOf(plan), ...waitingOf(plan), ...filteredOf(plan)]
    return `volctl can do nothing here: ${worst.join('; ')}.`
  }
  if (waiting.length > 0) return `Nothing to do yet: ${rest.join('; ')}.`
  if (plan.summary.filtered > 0) return `Nothing to do under these flags: ${rest.join('; ')}.`
  // Of what was not seen nothing is promised (S3).
  const known = complete ? '' : ', as far as volctl could read'
  if (rest.length > 0) return `Nothing to do: no operation is needed${known}; ${rest.join('; ')}.`
  return complete
    ? `Nothing to do: every volume ${where} is as it should be.`
    : 'Nothing to do: no operation is needed, as far as volctl could read.'
}

function operationsText(plan: Counted): string[] {
  const todo = plan.operations.length
  return todo > 0 ? [`${count(todo, 'operation')}: ${readyText(plan)}`] : []
}

function restOf(plan: Counted): string[] {
  return [...waitingOf(plan), ...problemsOf(plan), ...filteredOf(plan)]
}

function waitingOf({ summary: { waiting } }: Counted): string[] {
  return waiting > 0 ? [`${waiting} waiting`] : []
}

function problemsOf(plan: Counted): string[] {
  return plan.summary.problems > 0 ? [problemsText(plan)] : []
}

function filteredOf({ summary: { filtered } }: Counted): string[] {
  return filtered > 0 ? [`${filtered} left out by flags`] : []
}

/** `29 ready, 10 blocked (--orphans would free 8)`; blocked is also what comes after a blocked operation. */
function readyText({ operations, summary: { ready = 0, freedBy = [] } }: Counted): string {
  const blocked = operations.length - ready
  const freed = freedBy.map(({ flag, operations: more }) => `${flag} would free ${more}`).join(', ')
  return [
    ...(ready > 0 ? [`${ready} ready`] : []),
    ...(blocked > 0 ? [`${blocked} blocked${freed === '' ? '' : ` (${freed})`}`] : []),
  ].join(', ')
}

/** `3 problems (1 error, 2 warnings)`; one problem says what it is. */
function problemsText({ problems }: Counted): string {
  const parts = SEVERITIES.flatMap(([severity, one]) => {
    const n = problems.filter((problem) => problem.severity === severity).length
    return n > 0 ? [count(n, one)] : []
  })
  return problems.length > 1 && parts.length > 1
    ? `${count(problems.length, 'problem')} (${parts.join(', ')})`
    : (parts[0] ?? '')
}

const SEVERITIES = [
  ['error', 'error'],
  ['warning', 'warning'],
  ['info', 'note'],
] as const
