import type { Operation, Plan, ReviewedPlan } from '../plan/plan.ts'
import { summaryOf } from '../plan/plan-summary.ts'
import { findAgain, requireSameNode } from './conditions/find-again.ts'

/**
 * What a saved plan would do now, to be shown before the confirmation (S31): the node as it is now, and the saved
 * operations. Those that no longer match are blocked, with what has changed.
 *
 * @throws VolctlError OtherNode, Changed
 */
export function planToReview(saved: ReviewedPlan, fresh: Plan, isDone: (operation: Operation) => boolean): Plan {
  requireSameNode(saved, fresh)
  const operations = findAgain(saved, fresh, isDone).map(({ operation, refused }): Operation => {
    if (refused === undefined || operation.blocked !== undefined) return operation
    return { ...operation, blocked: refused }
  })
  return { ...fresh, operations, summary: summaryOf({ ...fresh, operations }, fresh.summary.filtered) }
}
