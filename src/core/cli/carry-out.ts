/** What `apply` prints while it carries a plan out, and how it and `plan` end: of either scope. */
import { SafetyRefusal } from '../base/errors.ts'
import { ExitStatus } from '../base/exit-status.ts'
import type { ClusterPlan } from '../plan/cluster-plan.ts'
import {
  type ApplyEvent,
  type ApplyResult,
  applyDocument,
  type ClusterApplyResult,
  resultEvent,
} from '../plan/events.ts'
import type { Plan } from '../plan/plan.ts'
import { eventLine } from '../views/apply-lines.ts'
import { Progress } from '../views/progress.ts'
import type { Screen } from '../views/screen.ts'
import { toJsonLine } from '../views/structured.ts'
import type { OutputFormat } from './flags.ts'
import { messages } from './output.ts'
import type { VolctlCommand } from './volctl-command.ts'

export function isDrawn(format: OutputFormat): boolean {
  return format === 'table' || format === 'wide'
}

type Applied = Parameters<typeof applyDocument>[0] & { readonly operations: readonly unknown[] }

interface CarryingOut<Result> {
  /** The operation of an event by its number and names. */
  readonly nameOf: (event: ApplyEvent) => string
  /** A step, for --verbose. */
  readonly stepOf: (event: ApplyEvent) => string
  readonly apply: (onEvent: (event: ApplyEvent) => void) => Promise<Result>
  /** The end. */
  readonly draw: (result: Result, screen: Screen) => string
}

/** @throws SafetyRefusal of an apply that is refused as a whole, after it was printed */
export async function carryOut<Result extends ApplyResult | ClusterApplyResult>(
  command: VolctlCommand,
  format: OutputFormat,
  plan: Applied,
  { nameOf, stepOf, apply, draw }: CarryingOut<Result>,
): Promise<Result> {
  const { io, output } = command
  const screen = await command.screenOf(io.stdout, format)
  const isWatched = isDrawn(format) && io.stderr.isTTY === true
  using progress = isWatched ? new Progress(messages, nameOf, plan.operations.length) : undefined
  const print = (event: ApplyEvent): void => {
    progress?.follow(event)
    if (event.type === 'step') command.detail(stepOf(event))
    if (format === 'ndjson') output.write(toJsonLine(event))
    const line = isDrawn(format) ? eventLine(event, nameOf, screen) : undefined
    if (line === undefined) return
    if (progress === undefined) output.write(line)
    else progress.above(() => output.write(line))
  }
  const result = await apply(print)
  progress?.[Symbol.dispose]()
  if (format === 'ndjson') output.write(toJsonLine(resultEvent(result)))
  else await command.answer(applyDocument(plan, result), format, (on) => draw(result, on))
  command.finish(result.exit)
  await output.flush()
  const refusal = refusalOf(result)
  if (refusal !== undefined) throw refusal
  return result
}

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
  return new SafetyRefusal(rule, code, message, { hint })
}
