/** The empty file that says that an emptyDir is set up (P21). */
import { posix } from 'node:path'
import { errnoOf } from '../../errors.ts'
import type { Step } from '../../plan/plan.ts'
import { StepFailed } from '../operation-error.ts'
import type { StepContext } from '../step-context.ts'
import { makeDirectory } from './make-directory.ts'
import { takeBack, type Undo } from './undo.ts'

export async function writeMarker(step: Step, run: StepContext): Promise<readonly Undo[]> {
  const directories = makeDirectory({ op: 'mkdir', target: posix.dirname(step.target) }, run)
  if (run.host.lstat(step.target)?.type === 'file') return directories
  try {
    run.host.createFile(step.target, 0o644)
  } catch (error) {
    const message = `${step.target} could not be written (${errnoOf(error) ?? String(error)})`
    throw await takeBack(directories, new StepFailed('WriteFailed', message, { cause: error }), run)
  }
  return [...directories, { what: step.target, back: () => run.host.unlink(step.target) }]
}
