/** What is planned for a node that a test has built, in short. */
import type { Plan, PlanOptions } from '../../src/core/plan/plan.ts'
import { planNode } from '../../src/core/reconcile/plan-node.ts'
import { type NodeBuilder, uid } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'

/** A pod that the API does not list, and of which nothing runs. */
export const GONE = uid(9)

export function plan(built: NodeBuilder, options: Partial<PlanOptions> = {}): Plan {
  return planNode(built.build(), planOptions(options))
}

/** Kinds of the operations that would be carried out. */
export function kinds({ operations }: Plan): string[] {
  return operations.filter((each) => each.blocked === undefined).map((each) => each.kind)
}

/** Why the others are blocked. */
export function blocks({ operations }: Plan): (string | undefined)[] {
  return operations.filter((each) => each.blocked).map((each) => each.blocked?.code)
}

/** Kind and code of each of these. */
export function blocked({ operations }: Plan): string[] {
  return operations.flatMap((each) => (each.blocked === undefined ? [] : [`${each.kind} ${each.blocked.code}`]))
}

/** Codes of the problems. */
export function codes({ problems }: Plan): string[] {
  return problems.map((each) => each.code)
}
