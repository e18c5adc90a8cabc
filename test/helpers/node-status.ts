import { statusAndPlan, wholeOf } from '../../src/core/explain/status/node-status.ts'
import type { Status } from '../../src/core/explain/status/status.ts'
import type { NodeState } from '../../src/core/facts/actual/snapshot.ts'
import type { PlanOptions } from '../../src/core/plan/plan.ts'
import { planWithDecisions } from '../../src/core/reconcile/decisions.ts'

/** @param options what they narrow is left out of the answer, and changes no verdict */
export function nodeStatus(state: NodeState, options: PlanOptions, ignoreNotFound = false): Status {
  return statusAndPlan(planWithDecisions(state, wholeOf(options)), options, ignoreNotFound).status
}
