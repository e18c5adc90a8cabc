/** Runs iscsiadm(8); the caller judges its exit status. */
import type { CommandResult } from '../../trust/programs.ts'
import { command } from '../operation/step-command.ts'
import type { StepContext } from '../operation/step-context.ts'

/** Exit status "session exists": of a log-in, and of an interface that already exists. */
export const SESSION_EXISTS = 15

/** @throws VolctlError CommandMissing; StepFailed TimedOut */
export function iscsiadm(args: readonly string[], run: StepContext): Promise<CommandResult> {
  run.say(`iscsiadm ${args.join(' ')}`)
  return command(run, 'iscsiadm', args)
}
