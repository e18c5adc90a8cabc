import type { Operation, Plan, ReviewedPlan } from '../plan/plan.ts'
import { findAgain, requireSameNode } from './conditions/find-again.ts'

/**
 * What a saved plan would do now, to be shown before the confirmation (S31): the node as it is now, and the saved
 * operations. Those that no longer match are blocked, with what has changed.
 *
 * @throws VolctlError OtherNode, PlanTooOld
 */
export function planToReview(saved: ReviewedPlan, fresh: Plan): Plan {
  requireSameNode(saved, fresh)
  const operations = findAgain(saved, fresh).map(({ operation, refused }): Operation => {
    if (refused === undefined || operation.blocked !== undefined) return operation
    return { ...operation, blocked: refused }
  })
  const kinds: Partial<Record<Operation['kind'], number>> = {}
  for (const { kind } of operations) kinds[kind] = (kinds[kind] ?? 0) + 1
  const blocked = operations.filter(({ blocked }) => blocked !== undefined).length
  return { ...fresh, operations, summary: { ...fresh.summary, operations: kinds, blocked } }
}
