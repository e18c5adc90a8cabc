/** What takes back the steps of an operation that did not end well: nothing half-made is left, or it is named. */
import { errnoOf, errorMessage, VolctlError } from '../../errors/errors.ts'
import { OperationRefused, StepFailed } from '../../errors/operation-error.ts'
import { askKubelet, ownsNode, plannedWithKubelet } from './preconditions.ts'
import type { StepContext } from './step-context.ts'

export interface Undo {
  /** What is there until it is taken back, in words: "the mount on /path". */
  readonly what: string
  back(): void | Promise<void>
}

/** However much of its time the operation has spent. */
const UNDO_MS = 30_000

/**
 * Takes everything back, the newest first. What could not be taken back is added to the failure's message. After a call
 * that was given up nothing is touched, since it may still be at work; nor where a kubelet has come, which may count on
 * it (S11).
 *
 * @param run undefined: only files of one directory are taken back, which nobody is shown yet
 * @returns what to throw
 */
export async function takeBack(undos: readonly Undo[], failure: unknown, run?: StepContext): Promise<unknown> {
  if (undos.length === 0) return failure
  const isStuck = failure instanceof StepFailed && failure.stuck
  if (isStuck || (run !== undefined && (await hasKubelet(run)))) {
    return withRemains(
      failure,
      undos.map(({ what }) => what),
    )
  }
  run?.waiting.leaveAtLeast(UNDO_MS)
  const remains: string[] = []
  let stuck = false
  for (const undo of undos.toReversed()) {
    try {
      if (stuck) throw new Error('not tried')
      await undo.back()
    } catch (error) {
      stuck ||= error instanceof StepFailed && error.stuck
      remains.push(`${undo.what} (${errorMessage(error)})`)
    }
  }
  return withRemains(failure, remains, stuck)
}

/** One that cannot be found out about may be there. */
async function hasKubelet({ plan, context }: StepContext): Promise<boolean> {
  if (plannedWithKubelet(plan)) return false
  try {
    return ownsNode(await askKubelet(context))
  } catch {
    return true
  }
}

function withRemains(failure: unknown, remains: readonly string[], isStuck = false): unknown {
  if (remains.length === 0) return failure
  const message = `${errorMessage(failure)}; left as it is: ${remains.join(', ')}`
  const hint = failure instanceof VolctlError ? failure.hint : undefined
  const options = { cause: failure, ...(hint === undefined ? {} : { hint }) }
  const stuck = isStuck || (failure instanceof StepFailed && failure.stuck)
  if (failure instanceof OperationRefused && !stuck) return new OperationRefused(failure.code, message, options)
  const code = failure instanceof VolctlError ? failure.code : (errnoOf(failure) ?? 'Failed')
  return new StepFailed(code, message, { ...options, stuck })
}
