/** The pod's link to its device (P98, P99, P106). */
import { posix } from 'node:path'
import { StepFailed } from '../../errors/operation-error.ts'
import type { Undo } from '../../errors/undo.ts'
import { diskFailure } from '../../files/disk-failure.ts'
import type { Step } from '../../plan/plan.ts'
import { makeDirectory } from '../operation/make-directory.ts'
import type { StepContext } from '../operation/step-context.ts'
import { takeBack } from '../operation/take-back.ts'
import { findDevice, sourceOf } from './source-device.ts'

/** A link that leads elsewhere is replaced, as by the kubelet; anything else in its place stays (S13). */
export async function linkDevice(step: Step, run: StepContext): Promise<readonly Undo[]> {
  const { host } = run
  const { path } = await findDevice(sourceOf(step, run), run)
  const found = host.lstat(step.target)
  if (found !== undefined && found.type !== 'link') {
    throw new StepFailed('UnexpectedFile', `${step.target} is no link: the kubelet did not make it`, {
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
    const failure = diskFailure('WriteFailed', `link ${step.target} could not be made`, error, 'Plan again.')
    throw await takeBack(directories, failure, run)
  }
  return [...directories, { what: `link ${step.target}`, back: () => host.unlink(step.target) }]
}
