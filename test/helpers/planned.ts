/** A plan of a node made by hand, and what tables ask of it. */
import type { Operation, OperationKind, Plan, PlanOptions } from '../../src/core/plan/plan.ts'
import { planNode } from '../../src/core/reconcile/plan-node.ts'
import type { NodeBuilder } from './node-builder.ts'
import { planOptions } from './plan-options.ts'

export function planned(built: NodeBuilder, options: Partial<PlanOptions> = {}): Plan {
  return planNode(built.build(), planOptions(options))
}

/** Kinds of the operations that an apply would carry out, in order. */
export function unblocked(plan: Plan): OperationKind[] {
  return plan.operations.filter((each) => each.blocked === undefined).map((each) => each.kind)
}

/** Kind and block code of the others. */
export function blocked(plan: Plan): [OperationKind, string][] {
  return plan.operations.flatMap((each) => (each.blocked === undefined ? [] : [[each.kind, each.blocked.code]]))
}

/** Kind and code of what waits. */
export function waits(plan: Plan): [OperationKind, string][] {
  return plan.waiting.map((each) => [each.kind, each.code])
}

export function only(plan: Plan, kind: OperationKind): Operation {
  const found = plan.operations.filter((each) => each.kind === kind)
  if (found.length !== 1 || found[0] === undefined) throw new Error(`${found.length} operations of kind ${kind}`)
  return found[0]
}
