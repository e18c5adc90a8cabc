/** What most tables of the planner ask of a plan. */
import type { Plan, PlanOptions } from '../../src/core/plan/plan.ts'
import { planNode } from '../../src/core/reconcile/plan-node.ts'
import type { NodeBuilder } from './node-builder.ts'
import { planOptions } from './plan-options.ts'

export function planned(built: NodeBuilder, options: Partial<PlanOptions> = {}): Plan {
  return planNode(built.build(), planOptions(options))
}

/** Kinds of the operations that nothing blocks. */
export function free(plan: Plan): string[] {
  return plan.operations.filter((each) => each.blocked === undefined).map((each) => each.kind)
}

/** "Kind Code" of the operations that something blocks. */
export function blocked(plan: Plan): string[] {
  return plan.operations.flatMap((each) => (each.blocked === undefined ? [] : [`${each.kind} ${each.blocked.code}`]))
}
