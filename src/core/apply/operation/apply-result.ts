/** From outcomes to the exit status (contract, "Exit status"). */
import type { BlockCode, FailureCode } from '../../codes/codes.ts'
import { ExitStatus } from '../../errors/exit-status.ts'
import type { Outcome } from '../../plan/events.ts'

/** Blocked only because a flag was not given: the person did not ask for the operation. */
const NOT_ASKED_FOR: ReadonlySet<FailureCode> = new Set<BlockCode>(['NotAsked', 'DeletesData'])

export function exitStatusOf(outcomes: Iterable<Outcome>, interrupted: boolean): ExitStatus {
  if (interrupted) return ExitStatus.Interrupted
  for (const { state, code } of outcomes) {
    if (state === 'done' || code === 'AlreadyDone') continue
    if ((state === 'blocked' || state === 'skipped') && NOT_ASKED_FOR.has(code ?? '')) continue
    return ExitStatus.Partial
  }
  return ExitStatus.Ok
}
