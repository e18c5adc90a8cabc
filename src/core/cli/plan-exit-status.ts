import { SafetyRefusal } from '../errors.ts'
import { ExitStatus } from '../exit-status.ts'
import type { Plan } from '../plan/plan.ts'

/** The exit status of `volctl plan` (contract, "Exit status"). */
export function planExitStatus(plan: Plan, detailed: boolean): ExitStatus {
  if (plan.refused !== undefined) return ExitStatus.Refused
  if (!detailed) return ExitStatus.Ok
  if (plan.operations.length > 0) return ExitStatus.Changes
  const errors = plan.problems.some(({ severity }) => severity === 'error')
  return !plan.complete || errors ? ExitStatus.Failed : ExitStatus.Ok
}

/** The plan's refusal as the error that says so: the plan was still printed. */
export function refusalOf({ refused }: Plan): SafetyRefusal | undefined {
  if (refused === undefined) return undefined
  const { rule, code, message, hint } = refused
  return new SafetyRefusal(rule, code, message, hint === undefined ? {} : { hint })
}
