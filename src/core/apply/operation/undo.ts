/** Taking back the steps of one operation, where nobody else may count on them by now. */
import { isStuck, leaveAll, takeBackAll, type Undo } from '../../errors/undo.ts'
import { askKubelet, ownsNode, plannedWithKubelet } from './preconditions.ts'
import type { StepContext } from './step-context.ts'

/** However much of its time the operation has spent. */
const UNDO_MS = 30_000

/**
 * Takes everything back, the newest first. What could not be taken back is added to the failure's message. After a call
 * that was given up nothing is touched, since it may still be at work; nor where a kubelet has come, which may count on
 * it (S11).
 *
 * @returns what to throw
 */
export async function takeBack(undos: readonly Undo[], failure: unknown, run: StepContext): Promise<unknown> {
  if (undos.length === 0) return failure
  if (isStuck(failure) || (await hasKubelet(run))) return leaveAll(undos, failure)
  run.waiting.leaveAtLeast(UNDO_MS)
  return takeBackAll(undos, failure)
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
