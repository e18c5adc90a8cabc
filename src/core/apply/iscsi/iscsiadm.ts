/** iscsiadm(8), whose exit status the caller judges. */
import type { CommandResult } from '../../trust/programs.ts'
import { command } from '../operation/step-command.ts'
import type { StepContext } from '../operation/step-context.ts'

/** "There is a session already": of a log-in, and of an interface that is made. */
export const SESSION_EXISTS = 15

/** @throws VolctlError CommandMissing; StepFailed TimedOut */
export function iscsiadm(args: readonly string[], run: StepContext): Promise<CommandResult> {
  run.say(`iscsiadm ${args.join(' ')}`)
  return command(run, 'iscsiadm', args)
}
