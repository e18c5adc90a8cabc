/** What takes back the steps of an operation that did not end well: nothing half-made is left, or it is named. */
import { errorMessage } from '../../errors.ts'
import { StepFailed } from '../operation-error.ts'

export interface Undo {
  /** What is there until it is taken back, in words: "the mount on /path". */
  readonly what: string
  back(): void | Promise<void>
}

/**
 * Takes everything back, the newest first. What could not be taken back is added to the failure's message; after a call
 * that was given up nothing is touched, since it may still be at work.
 *
 * @returns what to throw
 */
export async function takeBack(undos: readonly Undo[], failure: unknown): Promise<unknown> {
  if (undos.length === 0) return failure
  if (failure instanceof StepFailed && failure.stuck)
    return withRemains(
      failure,
      undos.map(({ what }) => what),
    )
  const remains: string[] = []
  for (const undo of undos.toReversed()) {
    try {
      await undo.back()
    } catch (error) {
      remains.push(`${undo.what} (${errorMessage(error)})`)
    }
  }
  return withRemains(failure, remains)
}

function withRemains(failure: unknown, remains: readonly string[]): unknown {
  if (remains.length === 0 || !(failure instanceof StepFailed)) return failure
  const { code, message, hint, cause, stuck } = failure
  return new StepFailed(code, `${message}; left as it is: ${remains.join(', ')}`, {
    cause,
    stuck,
    ...(hint === undefined ? {} : { hint }),
  })
}
