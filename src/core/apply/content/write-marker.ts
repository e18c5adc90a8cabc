/** Writes the empty file "ready", which marks an emptyDir as set up (P21). */
import { posix } from 'node:path'
import type { Undo } from '../../errors/undo.ts'
import { diskFailure } from '../../files/disk-failure.ts'
import type { Step } from '../../plan/plan.ts'
import { makeDirectory } from '../operation/make-directory.ts'
import type { StepContext } from '../operation/step-context.ts'
import { takeBack } from '../operation/take-back.ts'

export async function writeMarker(step: Step, run: StepContext): Promise<readonly Undo[]> {
  const directories = makeDirectory({ op: 'mkdir', target: posix.dirname(step.target) }, run)
  if (run.host.lstat(step.target)?.type === 'file') return directories
  try {
    run.host.createFile(step.target, 0o644)
  } catch (error) {
    const hint = 'Look at what is there, then plan again.'
    throw await takeBack(
      directories,
      diskFailure('WriteFailed', `${step.target} could not be written`, error, hint),
      run,
    )
  }
  return [...directories, { what: step.target, back: () => run.host.unlink(step.target) }]
}
