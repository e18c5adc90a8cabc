/** What explain says of a node, as the command asks it: with the pass over a look. */
import { type Explained, explainer as ofDecided } from '../../src/core/explain/explain.ts'
import type { NodeState } from '../../src/core/facts/actual/snapshot.ts'
import type { Given } from '../../src/core/plan/next-steps.ts'
import type { PlanOptions } from '../../src/core/plan/plan.ts'
import { planWithDecisions } from '../../src/core/reconcile/decisions.ts'

export function explainer(state: NodeState, options: PlanOptions, given?: Given): (what: string) => Explained {
  return ofDecided(planWithDecisions(state, options), given)
}

export function explain(state: NodeState, options: PlanOptions, what: string, given?: Given): Explained {
  return explainer(state, options, given)(what)
}
