/** What an apply of either scope has in common: what is asked for, the question, what is printed meanwhile; and how it and `plan` end. */

import type { Interfaces } from '@oclif/core'
import { missingCapabilities, missingText } from '../linux/capabilities.ts'
import { ExitStatus, marked, SafetyRefusal, said, VolctlError } from '../messages/findings.ts'
import type { CollectedNode } from '../node/collect-node.ts'
import { places } from '../node/places.ts'
import type { ClusterPlan } from '../plan/cluster-plan.ts'
import {
  type ApplyEvent,
  type ApplyResult,
  applyDocument,
  type ClusterApplyResult,
  resultEvent,
} from '../plan/events.ts'
import type { Naming } from '../plan/names.ts'
import type { AdviceContext } from '../plan/next-steps.ts'
import type { Plan, PlanOptions, Refusal } from '../plan/plan.ts'
import { allDoubts } from '../trust/files.ts'
import { closing, eventLine } from '../views/apply-lines.ts'
import { Progress } from '../views/progress.ts'
import type { Screen } from '../views/screen.ts'
import { toJsonLine } from '../views/structured.ts'
import { confirm } from './confirm.ts'
import type { applyFlags, OutputFormat } from './flags.ts'
import { messages } from './output.ts'
import type { VolctlCommand } from './volctl-command.ts'

/** What the command line asks for. */
export interface ApplyAsked {
  readonly flags: Interfaces.InferredFlags<typeof applyFlags> & Naming
  readonly planfile: string | undefined
  readonly parallel: number
  readonly timeoutMs: number
  readonly maxMs: number
  readonly journalDir: string | undefined
  /** A person is there, who can say yes. */
  readonly asks: boolean
  /** By the flags: those in a plan file come before them. */
  readonly options: PlanOptions
}

export interface Refusable {
  readonly refused?: Pick<Refusal, 'rule' | 'code' | 'message' | 'hint'>
}

interface Review {
  readonly plan: Refusable & { readonly operations: readonly { readonly blocked?: object }[] }
  readonly draw: (screen: Screen, asking: boolean) => string
  /** What stands between the plan and the question. */
  readonly below?: string
  readonly question: string
  readonly signal: AbortSignal
}

/**
 * Shows the plan as a person must see it before saying yes (S31), then asks.
 *
 * @returns whether a person was asked, and has said yes
 * @throws SafetyRefusal of a plan that is refused as a whole; VolctlError where the answer is another
 */
export async function review(
  command: VolctlCommand,
  { flags: { output }, asks }: ApplyAsked,
  { plan, draw, below = '', question, signal }: Review,
): Promise<boolean> {
  const asking = asks && plan.operations.some(({ blocked }) => blocked === undefined)
  // Standard output stays for the answer.
  if (asking || isDrawn(output)) messages.write(draw(await command.screenOf(command.io.stderr, output), asking))
  requireUnrefused(plan)
  messages.write(below)
  if (asking) await confirm(`\n${question}`, signal)
  return asking
}

function isDrawn(format: OutputFormat): boolean {
  return format === 'table' || format === 'wide'
}

interface CarryingOut<Result> {
  /** The operation of an event by its number and names. */
  readonly nameOf: (event: ApplyEvent) => string
  /** A step, for --verbose. */
  readonly stepOf: (event: ApplyEvent) => string
  readonly apply: (onEvent: (event: ApplyEvent) => void) => Promise<Result>
  /** What is advised at the end. */
  readonly given: AdviceContext
}

/** @throws SafetyRefusal of an apply that is refused as a whole, after it was printed */
export async function carryOut<Result extends ApplyResult | ClusterApplyResult>(
  command: VolctlCommand,
  format: OutputFormat,
  plan: Parameters<typeof applyDocument>[0] & Parameters<typeof closing>[1],
  { nameOf, stepOf, apply, given }: CarryingOut<Result>,
): Promise<Result> {
  const { io, output } = command
  const screen = await command.screenOf(io.stdout, format)
  // With -v each step is a line of its own.
  const isWatched = isDrawn(format) && io.stderr.isTTY === true && !command.verbose
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
  else await command.answer(applyDocument(plan, result), format, (on) => closing(result, plan, on, given))
  command.finish(result.exit)
  await output.flush()
  requireUnrefused(result)
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

/** Of a plan, an apply or an answer, once what there was to print is printed. @throws SafetyRefusal */
export function requireUnrefused({ refused }: Refusable): void {
  if (refused !== undefined) throw new SafetyRefusal(refused.rule, refused, refused)
}

// Who may apply, and where.

/**
 * Root alone is not enough: a service or a container may run without some of root's capabilities. Without one to look at
 * other processes their mount namespaces could not be read, and what holds a volume there would pass for nobody.
 *
 * @throws VolctlError NotRoot, before anything is read
 */
export function requireRoot(): void {
  if (process.geteuid?.() !== 0) {
    if (places() !== undefined) return
    throw new VolctlError(said('NotRoot.user'), {
      hint: marked('`volctl plan --snapshot` needs no privileges. As root: `sudo volctl apply`'),
    })
  }
  const missing = missingCapabilities()
  if (missing.length === 0) return
  throw new VolctlError(said('NotRoot.lacks', { missing: missingText(missing) }))
}

/** @throws SafetyRefusal where volctl runs in a chroot, a user namespace or the like, or where its container would hold what it
 * unmounts: only reading is possible (S6, S7) */
export function requireStanding({ node }: Pick<CollectedNode, 'node'>): void {
  requireUnrefused({ refused: node.standing[0] })
  // What the kubelet obeys, and volctl does not, may protect any pod's directory (S10), or name another root (S8).
  const doubt = allDoubts().find(({ unknown }) => unknown)
  if (doubt === undefined) return
  const { what, why, hint } = doubt
  throw new SafetyRefusal('S33', said('NotBelieved.file', { path: what, why }), { hint })
}
