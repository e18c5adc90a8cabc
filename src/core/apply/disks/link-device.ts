/** The pod's link to its device (P98, P99, P106). */
import { posix } from 'node:path'
import { StepFailed } from '../../errors/operation-error.ts'
import type { Undo } from '../../errors/undo.ts'
import { diskFailure } from '../../files/disk-failure.ts'
import type { Step } from '../../plan/plan.ts'
import { makeDirectory } from '../operation/make-directory.ts'
import type { StepContext } from '../operation/step-context.ts'
import { takeBack } from '../operation/take-back.ts'
import { deviceOfSource, sourceOf } from './source-device.ts'

/** A link that leads elsewhere is replaced, as the kubelet does; anything else in its place is kept, and the step fails (S13). */
export async function linkDevice(step: Step, run: StepContext): Promise<readonly Undo[]> {
  const { host } = run
  const { path } = await deviceOfSource(sourceOf(step, run), run)
  const found = host.lstat(step.target)
  if (found !== undefined && found.type !== 'link') {
    throw new StepFailed('UnexpectedFile', `${step.target} is not a symbolic link, so the kubelet did not make it`, {
      hint: 'Look at it; move it away or delete it yourself, then plan again.',
    })
  }
  const before = host.readLink(step.target)
  if (before === path) return []
  const directories = makeDirectory({ op: 'mkdir', target: posix.dirname(step.target) }, run)
  try {
    if (before !== undefined) host.unlink(step.target)
    host.symlink(path, step.target)
  } catch (error) {
    const failure = diskFailure('WriteFailed', `link ${step.target} could not be created`, error, 'Plan again.')
    throw await takeBack(directories, failure, run)
  }
  return [...directories, { what: `link ${step.target}`, back: () => host.unlink(step.target) }]
}
