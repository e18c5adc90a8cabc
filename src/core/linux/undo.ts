/** What takes back the steps of an operation that did not end well: nothing half-made is left, or it is named. */
import { codeOf, errorMessage, OperationRefused, StepFailed, saidOfAny, VolctlError } from '../messages/findings.ts'

export interface Undo {
  /** What is there until it is taken back, in words: "the mount on /path". */
  readonly what: string
  back(): void | Promise<void>
}

/**
 * Takes everything back, the newest first. What could not be taken back is added to the failure's message.
 *
 * @returns what to throw
 */
export async function takeBackAll(undos: readonly Undo[], failure: unknown): Promise<unknown> {
  if (isStuck(failure)) return leaveAll(undos, failure)
  const remains: string[] = []
  let stuck = false
  for (const undo of undos.toReversed()) {
    try {
      if (stuck) throw new Error('not tried')
      await undo.back()
    } catch (error) {
      stuck ||= isStuck(error)
      remains.push(`${undo.what} (${errorMessage(error)})`)
    }
  }
  return withRemains(failure, remains, stuck)
}

/** Takes nothing back, and names it. @returns what to throw */
export function leaveAll(undos: readonly Undo[], failure: unknown): unknown {
  const remains = undos.map(({ what }) => what)
  return withRemains(failure, remains, false)
}

/** An abandoned call may still be running: nothing after it is touched. */
export function isStuck(failure: unknown): boolean {
  return failure instanceof StepFailed && failure.stuck
}

function withRemains(failure: unknown, remains: readonly string[], stuckSince: boolean): unknown {
  if (remains.length === 0) return failure
  const finding = saidOfAny(codeOf(failure) ?? 'Unexpected', 'remains', {
    why: errorMessage(failure),
    remains: remains.join(', '),
  })
  const hint = failure instanceof VolctlError ? failure.hint : undefined
  const options = { cause: failure, hint }
  const stuck = stuckSince || isStuck(failure)
  if (failure instanceof OperationRefused && !stuck) return new OperationRefused(finding, options)
  return new StepFailed(finding, { ...options, stuck })
}
