/** Deleting a volume's content: where it lies, who is inside, then the walk (S12, S13). */
import { errnoOf } from '../../errors/errors.ts'
import { StepFailed } from '../../errors/operation-error.ts'
import type { Deleted } from '../../files/delete-content.ts'
import { cannotHang } from '../../mountinfo/file-systems.ts'
import { placeOf } from '../../mountinfo/linked-mounts.ts'
import { containingMount } from '../../mountinfo/location.ts'
import type { Step } from '../../plan/plan.ts'
import { requireContentUnused } from '../conditions/content-users.ts'
import { describeMount } from '../operation/expected-mounts.ts'
import type { StepContext } from '../operation/step-context.ts'

export async function deleteContentStep(step: Step, run: StepContext): Promise<Deleted> {
  const { around, host, signal } = run
  const mount = containingMount(around.table, step.target)
  const inTheWay = around.table.at(step.target).at(-1) ?? around.below(step.target)[0]
  if (mount === undefined || inTheWay !== undefined) {
    throw new StepFailed(
      'ForeignMount',
      `${inTheWay === undefined ? step.target : describeMount(inTheWay)} is in the way`,
      {
        hint: 'Content of mounts is never deleted: find out who mounted it.',
      },
    )
  }
  // The root directory's own file system has been read all along.
  if (!cannotHang(mount.fsType) && mount.id !== containingMount(around.table, run.plan.rootDir)?.id) {
    throw new StepFailed('MayHang', `${step.target} lies in a ${mount.fsType} file system, which may not answer`)
  }
  try {
    // The walk goes by the place itself, and follows no link on the way (S8, S12).
    return await host.deleteContent(placeOf(around.table, step.target), {
      mountId: mount.id,
      beforeFirst: () => requireContentUnused(step.target, run),
      ...(signal === undefined ? {} : { signal }),
    })
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return { files: 0, bytes: 0 }
    throw error
  }
}
