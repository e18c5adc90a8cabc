/** The counts, in one line, that add up. */
import { count } from '../../base/count.ts'
import type { Cause } from '../../plan/cause.ts'
import type { ClusterPlan } from '../../plan/cluster-plan.ts'
import type { LiftingFlag, Plan, Problem } from '../../plan/plan.ts'
import { liftingFlag, readyAmong } from '../../plan/plan-summary.ts'

/** A plan of either scope, as far as it is counted. */
type Counted = Pick<Plan | ClusterPlan, 'scope' | 'operations' | 'refused' | 'waiting' | 'complete'> & {
  readonly problems: readonly Pick<Problem, 'severity'>[]
  readonly summary: Pick<Plan['summary'], 'filtered' | 'causes'>
}

/** `44 operations: 34 ready, 9 wait for loop.pg.test, 1 needs --orphans`. */
export function countsText(plan: Counted): string {
  const { scope, operations, refused, waiting, problems, complete, summary } = plan
  const filtered = summary.filtered > 0 ? [`${summary.filtered} left out by flags`] : []
  const total = count(operations.length, 'operation')
  if (refused !== undefined) return `Refused: nothing is done${operations.length === 0 ? '' : `; ${total} blocked`}`
  if (operations.length > 0) return [`${total}: ${partsOf(plan).join(', ')}`, ...filtered].join('; ')
  if (problems.some(({ severity }) => severity === 'error'))
    return `${['Nothing is ready: see above', ...filtered].join('; ')}.`
  if (waiting.length > 0) return `${[`Nothing to do yet: ${waiting.length} waiting`, ...filtered].join('; ')}.`
  if (filtered.length > 0) return `Nothing to do under these flags: ${filtered.join('')}.`
  if (!complete) return 'Nothing to do: no operation is needed, as far as volctl could read.'
  return problems.some(({ severity }) => severity === 'warning')
    ? 'No operation is needed: see above.'
    : `Nothing to do: every volume ${scope === 'cluster' ? 'in this cluster' : 'on this node'} is as it should be.`
}

type Operation = Counted['operations'][number]

function partsOf({ operations, summary }: Counted): string[] {
  const ready = readyAmong<Operation>(operations)
  const causes = new Map(summary.causes?.map((cause) => [cause.key, cause]))
  const waiting = operations.flatMap((each) => (ready.has(each.id) ? [] : [whyNot(each, causes)]))
  const why = [...Map.groupBy(waiting, (each) => each.join(' ')).values()].toSorted((a, b) => b.length - a.length)
  return [
    ...(ready.size > 0 ? [`${ready.size} ready`] : []),
    ...why.map(([[does, what] = ['need', ''], ...more]) =>
      more.length === 0 ? `1 ${does}s ${what}` : `${more.length + 1} ${does} ${what}`,
    ),
  ]
}

const ORPHANS: LiftingFlag = '--orphans'

/** Several wait for a driver, or need a flag. */
function whyNot(operation: Operation, causes: ReadonlyMap<string, Cause>): readonly ['wait' | 'need', string] {
  const flag = liftingFlag(operation)
  const cause = causes.get(operation.blocked?.cause ?? '')
  if (flag !== undefined) return ['need', flag]
  if (cause === undefined) return ['wait', 'for another']
  if (cause.kind === 'data') return ['need', ORPHANS]
  return cause.subject.driver === undefined ? ['need', 'you first'] : ['wait', `for ${cause.subject.driver}`]
}

/** Is there an error or a wait, though maybe no operation is left? */
export function isOpen({ refused, problems, waiting }: Pick<Counted, 'refused' | 'problems' | 'waiting'>): boolean {
  return refused !== undefined || waiting.length > 0 || problems.some(({ severity }) => severity === 'error')
}
