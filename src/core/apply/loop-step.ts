/** Releasing the loop device that a kubelet put on a block volume's map (C19, C84). */
import { isWithin } from '../path-within.ts'
import type { Step } from '../plan/plan.ts'
import { StepFailed } from './operation-error.ts'
import type { StepContext } from './step-context.ts'

export async function releaseLoop(step: Step, run: StepContext): Promise<void> {
  const { host, operation } = run
  const file = host.loopBackingFile(step.target)
  if (file === undefined) return
  if (!operation.paths.some((path) => isWithin(nameOf(file), path))) {
    throw new StepFailed('ForeignDevice', `${step.target} is backed by ${file}, which is not of this volume`, {
      hint: 'Plan again: the device was given to somebody else.',
    })
  }
  const result = await run.waiting.spend((ms) => host.releaseLoop(step.target, ms))
  // A device that somebody has open is only marked for release, and says OK. One that is released may be another's by now.
  const now = host.loopBackingFile(step.target)
  if (now === undefined || nameOf(now) !== nameOf(file)) return
  const words = result.stderr.trim()
  throw new StepFailed('HeldBy', `${step.target} on ${file} is still in use${words === '' ? '' : `: ${words}`}`, {
    hint: `Find out who has ${step.target} open; then plan again.`,
    stuck: result.timedOut,
  })
}

/** Of a backing file, which may have been deleted. */
function nameOf(backingFile: string): string {
  return backingFile.replace(/ \(deleted\)$/, '')
}
