/** How an apply ends, of a node or of a cluster: what each operation came to, what is left, and the exit status. */

import type { VolctlError } from '../../base/errors.ts'
import { ExitStatus } from '../../base/exit-status.ts'
import { omitUndefined } from '../../base/omit-undefined.ts'
import { CameBack } from '../../base/operation-error.ts'
import { entryOf } from '../../messages/codes.ts'
import type { AnyOperation } from '../../plan/cluster-plan.ts'
import {
  type ApplyEvent,
  type ApplyResult,
  type EventSubject,
  isFulfilled,
  note,
  type Outcome,
  operationEvent,
} from '../../plan/events.ts'
import type { Refusal } from '../../plan/plan.ts'
import type { AnyPlan, Run } from './run.ts'

/**
 * @param planned the plan that was reviewed
 * @param fresh the plan of the look before the first operation: what is left as long as nothing was changed
 * @param run as it stands after its last operation
 * @param lookAfter plans once more; says itself why it cannot
 * @throws VolctlError why the run stopped before it changed anything, unless that is a refusal
 */
export async function conclude<Op extends AnyOperation, Made extends AnyPlan<Op>>(
  planned: AnyPlan<Op>,
  fresh: Made,
  run: Run<Op>,
  lookAfter: () => Promise<Made | undefined>,
  onEvent: (event: ApplyEvent) => void,
): Promise<Omit<ApplyResult<Op, Made>, 'plan'>> {
  const { stop, changedSomething, isInterrupted: interrupted } = run
  const outcomes = planned.operations.flatMap(({ id }) => run.outcomes.get(id) ?? [])
  if (stop !== undefined && !changedSomething && !interrupted) {
    const refused = refusalOf(stop)
    return { outcomes, left: fresh.operations, after: fresh, interrupted, refused, exit: ExitStatus.Refused }
  }
  const exit = exitStatusOf(outcomes, interrupted)
  if (interrupted) return { outcomes, left: undefined, interrupted, exit }
  const after = changedSomething ? await lookAfter() : fresh
  for (const operation of after?.operations ?? []) onEvent(leftEvent(operation, run.subjectOf(operation)))
  return { outcomes, left: after?.operations, ...omitUndefined({ after }), interrupted, exit }
}

/** Once an apply has begun, only somebody else who does this work refuses it as a whole (S11). */
function refusalOf(stop: VolctlError): Refusal {
  if (!(stop instanceof CameBack)) throw stop
  const { code, message, hint } = stop
  return { rule: 'S11', code, message, ...omitUndefined({ hint }) }
}

/** The event of an operation that is still to be done after the apply. */
function leftEvent({ blocked, message }: AnyOperation, subject: EventSubject): ApplyEvent {
  if (blocked === undefined) return operationEvent('left', subject, message)
  const { code, hint } = blocked
  return operationEvent('left', subject, blocked.message, { code, ...omitUndefined({ hint }) })
}

/** The result of an apply that a safety rule refuses before anything is done. */
export function refuseAll<Op extends AnyOperation>(
  plan: string,
  { operations }: AnyPlan<Op>,
  refused: Refusal,
  onEvent: (event: ApplyEvent) => void,
): ApplyResult<Op, never> {
  const { code, message, hint } = refused
  onEvent(note(message, { code, ...omitUndefined({ hint }) }))
  const outcomes = operations.map(({ id, kind }) => ({
    id,
    kind,
    state: 'refused' as const,
    code,
    message,
    elapsedMs: 0,
  }))
  return { plan, outcomes, left: operations, interrupted: false, refused, exit: ExitStatus.Refused }
}

/** From outcomes to the exit status (contract, "Exit status"). */
function exitStatusOf(outcomes: Iterable<Outcome>, interrupted: boolean): ExitStatus {
  if (interrupted) return ExitStatus.Interrupted
  for (const outcome of outcomes) {
    const { state, code } = outcome
    if (isFulfilled(outcome)) continue
    // Nobody asked for it, or for what it comes after.
    if ((state === 'blocked' || state === 'skipped') && entryOf(code)?.onRequest) continue
    return ExitStatus.Partial
  }
  return ExitStatus.Ok
}
