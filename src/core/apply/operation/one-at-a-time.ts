/** One device after another: volumes of several names may have the same one (S30). */
import { StepFailed } from '../../errors/operation-error.ts'
import type { StepContext } from './step-context.ts'

/** The last work of each device, by its number; it says whether a call of it may still be at work. */
const last = new Map<string, Promise<boolean>>()

/**
 * Does the work when nobody else in this process is at work on the device: what it looks at then stays so meanwhile.
 *
 * @param number "major:minor"
 * @throws StepFailed StillAtWork where a call before was given up; what the work throws
 */
export async function oneAtATime<T>(number: string, run: StepContext, work: () => Promise<T>): Promise<T> {
  const before = last.get(number)
  const mine = (async () => {
    if (await before) {
      throw new StepFailed('StillAtWork', `a call on device ${number} was given up and may still be at work`, {
        hint: 'Wait until it has ended; then plan again.',
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
  // One that may still be at work is remembered to the end.
  if (!(await ended) && last.get(number) === ended) last.delete(number)
  return mine
}
