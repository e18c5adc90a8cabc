/** Nobody else uses what an operation takes away: asked right before it begins, and before a plan calls it ready. */
import type { Operation } from '../plan/plan.ts'
import { requireNoUsers } from './conditions/require-content-unused.ts'
import { noteOverlays } from './disks/directory-users.ts'
import { findStagedDevice } from './disks/find-volume-device.ts'
import { noteMounted } from './disks/mounted-disks.ts'
import { requireDeviceUnused, takesDevice } from './disks/require-device-unused.ts'
import { requireNothingHidden } from './disks/require-nothing-hidden.ts'
import { requireNotSetUpElsewhere } from './disks/set-up-elsewhere.ts'
import type { Witness } from './operation/ports.ts'
import { requireNoReaders } from './operation/readers.ts'
import type { StepContext } from './operation/step-context.ts'

/**
 * First what each device is, then who has it. The users of content last: that look takes longest, and is to be the freshest when the
 * first step begins. A detach asks separately, in the second of the deletion (S21).
 *
 * @throws OperationRefused
 */
export async function requireNobody(operation: Operation, run: StepContext, witness: Witness): Promise<void> {
  noteMounted(run)
  noteOverlays(run)
  if (takesDevice(operation)) await findStagedDevice(run)
  if (operation.kind === 'UnmountDevice' || operation.kind === 'UnmapDevice') {
    requireNoReaders(operation, run.around, run.host, run.context.nameOf)
    requireNotSetUpElsewhere(run)
  }
  if (operation.steps.some(({ op }) => op === 'NodeUnstageVolume')) await requireNothingHidden(run)
  await requireDeviceUnused(run, witness)
  await requireNoUsers(run)
}
