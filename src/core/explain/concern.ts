/** What is asked about, and what a plan says about it: whose a finding is, the finding says. */
import { type Scope, scopeTest } from '../facts/scope.ts'
import type { Operation } from '../plan/plan.ts'
import { decisionsOf } from '../reconcile/decisions.ts'
import type { Decided } from '../reconcile/plan-node.ts'
import type { Subject as RowSubject } from '../volumes/finding.ts'
import type { Fact, Link, Place, Subject } from './explanation.ts'

/** The thing itself, and the pods, volumes and paths to which an answer looks. */
export interface Asked {
  readonly subject: Subject
  readonly identity: readonly Fact[]
  /** Of an object without a volume here. */
  readonly chain?: readonly Link[]
  readonly places: readonly Place[]
  readonly scope: Scope
  /** Names in /dev, where it was a device. */
  readonly devices?: readonly string[]
  /** Why nothing is to be done, where it is no pod and no volume. */
  readonly because?: string
}

export type Concern = ReturnType<typeof concernOf>

/** In the plan's order. */
export function concernOf(decided: Decided, scope: Scope) {
  const { plan, context } = decided
  const test = scopeTest(scope, context.ledger)
  const has = ({ subject }: { readonly subject?: RowSubject }): boolean => test.has(subject)
  return {
    operations: plan.operations.filter(has),
    waiting: plan.waiting.filter(has),
    // Nothing may be known rightly where the node itself is in error.
    problems: plan.problems.filter(
      ({ subject, severity }) =>
        test.concerns(subject) || (severity === 'error' && subject !== undefined && 'node' in subject),
    ),
    decisions: decisionsOf(decided).filter(has),
  }
}

/**
 * What has to come before some of the operations, and is not about the same.
 *
 * @param operations each after all that it depends on @returns in the same order
 */
export function predecessors(operations: readonly Operation[], first: readonly Operation[]): Operation[] {
  const own = new Set(first)
  const needed = new Set<string>()
  const found = operations.toReversed().filter((each) => {
    if (own.has(each) || needed.has(each.id)) for (const id of each.after) needed.add(id)
    return needed.has(each.id) && !own.has(each)
  })
  return found.toReversed()
}
