/** A flexVolume driver's answer: one JSON object and nothing else (P87). */

import { StepFailed } from '../../errors/operation-error.ts'
import { firstCharacters } from '../../lang/first-characters.ts'
import type { CommandResult } from '../../trust/programs.ts'
import { firstLineOf } from '../operation/step-command.ts'

export interface FlexAnswer {
  readonly status?: unknown
  readonly message?: unknown
  /** waitforattach */
  readonly device?: unknown
  /** init */
  readonly capabilities?: unknown
}

/** Undefined if the output is not a JSON object. */
function answerOf({ stdout }: CommandResult): FlexAnswer | undefined {
  try {
    const value: unknown = JSON.parse(stdout)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** With any exit status. */
export function isNotSupported(result: CommandResult): boolean {
  return answerOf(result)?.status === 'Not supported'
}

/** @throws StepFailed DriverFailed */
export function requireSuccess(result: CommandResult, what: string, hint: string): FlexAnswer {
  const answer = answerOf(result)
  if (answer?.status === 'Success' && result.status === 0) return answer
  const said =
    answer === undefined
      ? `the driver printed no JSON status: ${firstLineOf(result)}`
      : answer.status === 'Success'
        ? `the driver reported Success, but its exit status is ${result.status}`
        : firstCharacters(`${String(answer.status ?? 'no status')}: ${String(answer.message ?? 'without a message')}`)
  throw new StepFailed('DriverFailed', `${what} failed: ${said}`, { hint })
}
