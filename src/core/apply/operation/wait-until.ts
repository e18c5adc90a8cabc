/** Waits for something that the kernel or udev does on its own. */
import { pause } from '../../processes/deadline.ts'
import type { StepContext } from './step-context.ts'

const BETWEEN_MS = 200
const DEFAULT_MS = 30_000

/**
 * Asks now, and then five times a second, until there is an answer, the time is up or the apply is interrupted.
 *
 * @param atMostMs milliseconds; the context's own limit for devices may be shorter
 * @throws StepFailed TimedOut if the operation's time is already spent
 */
export async function waitUntil<T>(
  ask: () => T | undefined,
  run: StepContext,
  atMostMs: number = DEFAULT_MS,
): Promise<T | undefined> {
  const found = ask()
  if (found !== undefined) return found
  return run.waiting.spend(async (leftMs) => {
    const end = performance.now() + Math.min(leftMs, atMostMs, run.context.deviceWaitMs ?? DEFAULT_MS)
    for (let left = end - performance.now(); left > 0; left = end - performance.now()) {
      await pause(Math.min(left, BETWEEN_MS), run.signal)
      const later = ask()
      if (later !== undefined || run.signal?.aborted) return later
    }
    return undefined
  })
}
