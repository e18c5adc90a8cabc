/** Releases the loop device that a kubelet put on a block volume's map (C19, C84). */

import { StepFailed } from '../../errors/operation-error.ts'
import { isWithin } from '../../files/path-within.ts'
import { undeletedPath } from '../../mountinfo/deleted.ts'
import { ownPathOf } from '../../mountinfo/linked-mounts.ts'
import type { Step } from '../../plan/plan.ts'
import { pause } from '../../processes/deadline.ts'
import type { StepContext } from '../operation/step-context.ts'

export async function releaseLoop(step: Step, run: StepContext): Promise<void> {
  const { host, operation } = run
  const file = host.loopBackingFile(step.target)
  if (file === undefined) return
  const own = ownPathOf(run.around.table, undeletedPath(file))
  if (!operation.paths.some((path) => isWithin(own, path))) {
    throw new StepFailed('ForeignDevice', `${step.target} is backed by ${file}, which is not this volume's`, {
      hint: 'Plan again: the loop device is used for something else now.',
    })
  }
  const result = await run.waiting.spend((ms) => host.releaseLoop(step.target, ms))
  if (await isReleased(step.target, file, run)) return
  const output = result.stderr.trim()
  throw new StepFailed('HeldBy', `${step.target} on ${file} is still in use${output === '' ? '' : `: ${output}`}`, {
    hint: `Find out who has ${step.target} open; then plan again.`,
    stuck: result.timedOut,
  })
}

const TRIES = 20
const PAUSE_MS = 100

/**
 * While somebody has the loop device open, the kernel only marks it for release, and answers OK. Programs that list loop
 * devices (`losetup -j`, udev) open each for a moment, so this waits a little.
 *
 * @param file its backing file before the release; a released loop device may have another one by now
 */
export async function isReleased(
  device: string,
  file: string,
  { host, waiting, signal }: StepContext,
): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    const now = host.loopBackingFile(device)
    if (now === undefined || undeletedPath(now) !== undeletedPath(file)) return true
    if (tries === TRIES || waiting.isSpent || signal?.aborted) return false
    await waiting.spend(() => pause(PAUSE_MS, signal))
  }
}
