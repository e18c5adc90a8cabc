/** What the plan says of each row, and the worst of it as the row's verdict: in the plan's own words, so that status and plan agree. */

import { Grouped } from '../../base/collections.ts'
import { SharesOf } from '../../facts/scope.ts'
import { VERDICT_STATES } from '../../plan/kinds.ts'
import { causeKeys, causesInOrder } from '../../plan/part-of-plan.ts'
import type { Operation } from '../../plan/plan.ts'
import { liftingFlag } from '../../plan/plan-summary.ts'
import { decisionsOf, podVerdict } from '../../reconcile/decisions.ts'
import type { Decided } from '../../reconcile/plan-node.ts'
import type { Subject } from '../../volumes/finding.ts'
import type { AnyPart } from '../volume-part.ts'
import type { RowVerdict } from './status.ts'

export type Found = ReturnType<typeof findingsOf>
type RowFindings = ReturnType<Found['of']>

export function findingsOf(sources: readonly AnyPart[], decided: Decided) {
  const { plan } = decided
  const shares = new SharesOf(sources)
  const bySource = <T extends { readonly subject?: Subject }>(all: readonly T[], how: 'of' | 'ofProblem' = 'of') => {
    const found = new Grouped<AnyPart, T>()
    for (const each of all) for (const source of shares[how](each.subject)) found.add(source, each)
    return found
  }
  const operations = bySource(plan.operations)
  const waiting = bySource(plan.waiting)
  const problems = bySource(plan.problems, 'ofProblem')
  const decisions = bySource(decisionsOf(decided))
  const inOrder = causesInOrder(plan)
  return {
    /** What the plan says of one row. */
    of: (source: AnyPart) => {
      const own = { operations: operations.of(source), waiting: waiting.of(source), problems: problems.of(source) }
      return { ...own, decisions: decisions.of(source), causes: inOrder(causeKeys(own)) }
    },
    /** Problems that are about no row: of the node, of a pod without volumes. */
    unassigned: plan.problems.filter(({ subject }) => shares.ofProblem(subject).length === 0),
  }
}

type Verdict = Omit<RowVerdict, 'also'>

/** @param unjudged why the node was not planned; undefined: it was */
export function verdictOf(source: AnyPart, findings: RowFindings, unjudged: string | undefined): RowVerdict {
  const [worst, ...others] = allVerdicts(source, findings, unjudged).toSorted(
    (a, b) => rankOf(a.state) - rankOf(b.state),
  )
  if (worst === undefined) return { state: 'good', ...goodBecause(source, findings), also: [] }
  const codes = others.flatMap(({ code }) => (code === undefined || code === worst.code ? [] : [code]))
  return { ...worst, also: [...new Set(codes)] }
}

export function rankOf(state: RowVerdict['state']): number {
  return VERDICT_STATES.indexOf(state)
}

function allVerdicts(
  { pod }: AnyPart,
  { operations, waiting, problems, decisions }: RowFindings,
  unjudged: string | undefined,
): Verdict[] {
  return [
    // What is only noted is no reason to worry.
    ...problems.flatMap(({ severity, code, message, hint }): Verdict[] =>
      severity === 'info' ? [] : [{ state: severity, code, message, hint }],
    ),
    ...operations.map(ofOperation),
    ...waiting.map(
      ({ kind, code, message, hint, rule }): Verdict => ({
        state: 'waiting',
        code,
        message: `${kind} waits: ${message}`,
        rule,
        hint,
      }),
    ),
    ...decisions.flatMap(({ obstacle, rule }): Verdict[] => {
      if (obstacle === undefined) return []
      const { code, message, hint } = obstacle
      return [{ state: 'unknown', code, message, hint, rule }]
    }),
    ...ofPod(pod),
    ...(unjudged === undefined ? [] : [{ state: 'unknown' as const, message: `not judged: ${unjudged}`, rule: 'S3' }]),
  ]
}

function ofOperation(operation: Operation): Verdict {
  const { kind, reason, message, rule, blocked } = operation
  if (blocked === undefined) return { state: 'operation', code: reason, message: `${kind}: ${message}`, rule }
  const { code, hint } = blocked
  const state = liftingFlag(operation) === undefined ? 'blocked' : 'notAsked'
  return { state, code, message: `${kind} is blocked: ${blocked.message}`, hint, rule }
}

/** S9: nothing is done about the volumes of a pod that ends, or may still run. */
function ofPod(pod: AnyPart['pod']): Verdict[] {
  if (pod?.class !== 'Frozen') return []
  const [rule, message] = podVerdict(pod)
  return [{ state: 'kept', code: pod.why?.code, message, rule }]
}

function goodBecause(source: AnyPart, { decisions }: RowFindings) {
  const own = decisions.find(({ satisfied }) => satisfied !== undefined) ?? decisions[0]
  if (own !== undefined) return { message: own.satisfied ?? own.why, rule: own.rule }
  return { message: source.pod === undefined ? 'nothing of it is left to undo' : 'nothing is to be done' }
}
