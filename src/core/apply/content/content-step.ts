/** Deletes a volume's content, after checking its place and its users (S12, S13). */

import { errnoOf } from '../../errors/errors.ts'
import { StepFailed } from '../../errors/operation-error.ts'
import type { Deleted } from '../../files/delete-content.ts'
import { defined } from '../../lang/defined.ts'
import { cannotHang } from '../../mountinfo/file-systems.ts'
import { placeOf } from '../../mountinfo/linked-mounts.ts'
import { containingMount } from '../../mountinfo/location.ts'
import type { Step } from '../../plan/plan.ts'
import { requireContentUnused } from '../conditions/require-content-unused.ts'
import { isEmptyDir } from '../operation/empty-dir.ts'
import { describeMount } from '../operation/expected-mounts.ts'
import type { StepContext } from '../operation/step-context.ts'

/** An emptyDir's files go only where the plan has counted them (S13): otherwise only directories were there. */
export async function deleteContentStep(step: Step, run: StepContext): Promise<Deleted> {
  const { around, host, signal, operation } = run
  const mount = containingMount(around.table, step.target)
  const inTheWay = around.table.at(step.target).at(-1) ?? around.below(step.target)[0]
  if (mount === undefined || inTheWay !== undefined) {
    throw new StepFailed(
      'ForeignMount',
      inTheWay === undefined
        ? `the mount table does not show where ${step.target} is`
        : `${describeMount(inTheWay)} is in the way`,
      {
        hint: 'volctl never deletes the content of a mount: find out who mounted it (findmnt), and unmount it yourself.',
      },
    )
  }
  // The root directory's own file system has been read before, so it answers.
  if (!cannotHang(mount.fsType) && mount.id !== containingMount(around.table, run.plan.rootDir)?.id) {
    throw new StepFailed('DeadMount', `${step.target} is on a file system of type ${mount.fsType}, which may hang`)
  }
  try {
    // The walk starts from the resolved place, and follows no link on the way (S8, S12).
    return await host.deleteContent(placeOf(around.table, step.target), {
      mountId: mount.id,
      beforeFirst: () => requireContentUnused(step.target, run),
      directoriesOnly: isEmptyDir(operation) && operation.deletes === undefined,
      ...defined({ signal }),
    })
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return { files: 0, bytes: 0 }
    throw error
  }
}
