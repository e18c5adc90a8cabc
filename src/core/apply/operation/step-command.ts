/** A program that a step runs, and what it said. */

import { StepFailed } from '../../errors/operation-error.ts'
import type { CommandResult } from '../../trust/programs.ts'
import type { StepContext } from './step-context.ts'

/** @throws StepFailed TimedOut where it did not end, CommandFailed where it said too much */
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
  const words = `${program} ${args.join(' ')}`
  if (result.flooded === true)
    throw new StepFailed('CommandFailed', `${words} said more than is read, and was ended${left}`, {
      hint: 'Run it by hand, and see what it says.',
      stuck: true,
    })
  throw new StepFailed('TimedOut', `${words} did not end within ${run.waiting.limitMs / 1000} s${left}`, {
    hint: 'The storage may be away: bring it back, and plan again.',
    stuck: true,
  })
}

/** The first line of what a program said. */
export function wordsOf({ stdout, stderr, status }: CommandResult): string {
  const [line = ''] = (stderr.trim() || stdout.trim()).split('\n')
  return line === '' ? `exit status ${status}` : line
}
