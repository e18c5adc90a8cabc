/** One operation at a time on a device: volumes of several names may share it (S30). */
import { StepFailed } from '../../base/operation-error.ts'
import { perRun } from '../../trust/run.ts'
import type { StepContext } from './step-context.ts'

/** The last work on each device, by its number; resolves to whether a call of it may still be running. */
const lastCalls = perRun(() => new Map<string, Promise<boolean>>())

/**
 * Does the work once no other work of this run is on the device, so that checked facts do not change meanwhile.
 *
 * @param number "major:minor"
 * @throws StepFailed StillAtWork if an earlier call was abandoned; errors of the work
 */
export async function oneAtATime<T>(number: string, run: StepContext, work: () => Promise<T>): Promise<T> {
  const last = lastCalls()
  const before = last.get(number)
  const mine = (async () => {
    if (await before) {
      throw new StepFailed('StillAtWork', `a call on device ${number} was abandoned and may still be running`, {
        stuck: true,
      })
    }
    if (before !== undefined) run.around.changed()
    return await work()
  })()
  const ended = mine.then(
    () => false,
    (error) => error instanceof StepFailed && error.stuck,
  )
  last.set(number, ended)
  // A call that may still be running is remembered until the apply ends.
  if (!(await ended) && last.get(number) === ended) last.delete(number)
  return mine
}
