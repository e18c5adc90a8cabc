/** Runs a program for a step, and asks the API server. */

import { firstCharacters } from '../../base/first-characters.ts'
import { StepFailed, StepTimedOut } from '../../base/operation-error.ts'
import type { CommandResult } from '../../trust/programs.ts'
import type { StepContext } from './step-context.ts'

/** @throws StepFailed TimedOut if the program did not end, CommandFailed if it printed too much */
export async function command(
  run: StepContext,
  program: string,
  args: readonly string[],
  input?: string,
): Promise<CommandResult> {
  const result = await run.waiting.spend((ms) => run.host.run(program, args, ms, input))
  if (!result.timedOut && result.flooded !== true) return result
  const left =
    result.abandonedPid === undefined ? '' : `; pid ${result.abandonedPid} cannot be killed and was left behind`
  const line = `${program} ${args.join(' ')}`
  if (result.flooded === true)
    throw new StepFailed('CommandFailed', `${line} printed too much output and was killed${left}`, { stuck: true })
  throw new StepTimedOut(`${line} did not end within ${run.waiting.limitMs / 1000} s${left}`, { stuck: true })
}

/** The first line that a program printed, errors before output; otherwise its exit status. For messages. */
export function firstLineOf({ stdout, stderr, status }: CommandResult): string {
  const [line = ''] = (stderr.trim() || stdout.trim()).split('\n')
  return line === '' ? `exit status ${status}` : firstCharacters(line)
}
