import { SafetyRefusal } from '../errors/errors.ts'
import { ExitStatus } from '../errors/exit-status.ts'
import type { ClusterPlan } from '../plan/cluster-plan.ts'
import type { Plan } from '../plan/plan.ts'

/** The exit status of `volctl plan` (contract, "Exit status"). */
export function planExitStatus(plan: Plan | ClusterPlan, detailed: boolean): ExitStatus {
  if (plan.refused !== undefined) return ExitStatus.Refused
  if (!detailed) return ExitStatus.Ok
  if (plan.operations.length > 0) return ExitStatus.Changes
  const errors = plan.problems.some(({ severity }) => severity === 'error')
  if (!plan.complete || errors) return ExitStatus.Failed
  return plan.waiting.length > 0 ? ExitStatus.Waiting : ExitStatus.Ok
}

/** The refusal of a plan or an apply as the error that says so: what there was to print was still printed. */
export function refusalOf({ refused }: Pick<Plan, 'refused'>): SafetyRefusal | undefined {
  if (refused === undefined) return undefined
  const { rule, code, message, hint } = refused
  return new SafetyRefusal(rule, code, message, hint === undefined ? {} : { hint })
}
