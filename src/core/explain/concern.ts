/** What a plan says about what is asked about, of either scope: whose a finding is, the finding says. */
import type { Ledger } from '../ledger/ledger.ts'
import { type Scope, type ScopeRow, ScopeTest } from '../ledger/whose.ts'
import type { Operation, Problem, Waiting } from '../plan/plan.ts'
import type { AnySubject } from '../plan/subject.ts'
import type { Decision } from '../reconcile/decisions.ts'

/** Of a node's plan, where nothing else is said. */
export interface Concern<O = Operation, W = Waiting, P = Problem> {
  /** In the plan's order. */
  readonly operations: readonly O[]
  /** What has to come before these, and is not about the same; in the plan's order. */
  readonly before: readonly O[]
  readonly waiting: readonly W[]
  readonly problems: readonly P[]
  readonly decisions: readonly Decision[]
}

interface Of {
  readonly subject?: AnySubject
}

interface Ordered {
  readonly id: string
  readonly after: readonly string[]
}

interface Findings<O, W, P> {
  readonly operations: readonly O[]
  readonly waiting: readonly W[]
  readonly problems: readonly P[]
}

/** @param node its ledger, and what its pass decided */
export function concernOf<O extends Of & Ordered, W extends Of, P extends Of & Pick<Problem, 'severity'>>(
  plan: Findings<O, W, P>,
  scope: Scope<ScopeRow>,
  node?: { readonly ledger: Ledger; readonly decisions: readonly Decision[] },
): Concern<O, W, P> {
  const test = new ScopeTest(scope, node?.ledger)
  const has = ({ subject }: Of): boolean => test.has(subject)
  const operations = plan.operations.filter(has)
  return {
    operations,
    before: predecessors(plan.operations, operations),
    waiting: plan.waiting.filter(has),
    // Nothing may be known rightly where the node itself is in error.
    problems: plan.problems.filter(
      ({ subject, severity }) =>
        test.concerns(subject) || (severity === 'error' && subject !== undefined && 'node' in subject),
    ),
    // Of a node every one would be as long as its disk.
    decisions: scope.node ? [] : (node?.decisions.filter(has) ?? []),
  }
}

function predecessors<O extends Ordered>(operations: readonly O[], first: readonly O[]): O[] {
  const byId = new Map(operations.map((operation) => [operation.id, operation]))
  const found = new Set<string>()
  const walk = ({ after }: O): void => {
    for (const id of after) {
      const before = byId.get(id)
      if (before === undefined || found.has(id)) continue
      found.add(id)
      walk(before)
    }
  }
  for (const operation of first) walk(operation)
  const own = new Set(first.map(({ id }) => id))
  return operations.filter(({ id }) => found.has(id) && !own.has(id))
}
