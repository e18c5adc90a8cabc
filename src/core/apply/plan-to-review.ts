import type { Operation, Plan, ReviewedPlan } from '../plan/plan.ts'
import { findAgain, requireSameNode } from './conditions/find-again.ts'

/**
 * What a saved plan comes to now, as a person must see it before saying yes (S31): the node as it is, and of the saved
 * operations those that still hold; the others stand there blocked, with what has changed.
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
