import type { OutcomeCode } from '../codes/codes.ts'
import { codeOf } from '../errors/errors.ts'
import { StepFailed } from '../errors/operation-error.ts'
import { diskTrouble, troubleText } from './disk-trouble.ts'

/**
 * A step that failed with the system's error.
 *
 * @param what could not be done, and on which path
 * @param hint used if the error is not one of disk-trouble.ts, which have their own hints
 */
export function diskFailure(code: OutcomeCode, what: string, cause: unknown, hint: string): StepFailed {
  const trouble = diskTrouble(cause)
  const why = trouble === undefined ? ` (${codeOf(cause) ?? String(cause)})` : `: ${troubleText(cause)}`
  return new StepFailed(code, `${what}${why}`, { cause, hint: trouble?.hint ?? hint })
}
