/** Undoes the steps of one operation, unless somebody else may rely on them by now. */
import { isStuck, leaveAll, takeBackAll } from '../../linux/undo.ts'
import { kubeletIsBack, plannedWithKubelet } from './ask-kubelet.ts'
import type { StepContext } from './step.ts'

/** Time for the undo, regardless of the time that the operation has spent. */
const UNDO_MS = 30_000

/**
 * Where the work fails, all that it has made is undone, the newest first. What could not be undone is added to the failure's message.
 * Nothing is touched after an abandoned call, since it may still be running, nor once a kubelet runs, which may rely on what was made
 * (S11).
 */
export async function orTakeBack<T>(run: StepContext, work: () => Promise<T>): Promise<T> {
  const before = run.made.length
  try {
    return await work()
  } catch (failure) {
    const undos = run.made.splice(before)
    if (undos.length === 0) throw failure
    if (isStuck(failure) || (await hasKubelet(run))) throw leaveAll(undos, failure)
    run.waiting.leaveAtLeast(UNDO_MS)
    throw await takeBackAll(undos, failure)
  }
}

/** If the kubelet's state is unknown, it may run. */
async function hasKubelet({ plan, context }: StepContext): Promise<boolean> {
  return !plannedWithKubelet(plan) && (await kubeletIsBack(context).catch(() => true))
}
