/** One operation by itself: what must hold, the intent in the journal, the steps, the outcome. */
import type { Operation, OperationKind } from '../plan/plan.ts'
import type { ApplyRun } from './apply-run.ts'
import { requireNoUsers } from './conditions/content-users.ts'
import { requireSameFiles } from './conditions/require-files.ts'
import { requirePrograms } from './conditions/require-programs.ts'
import { requireStillReported } from './conditions/require-reported.ts'
import { requireWanted } from './conditions/require-wanted.ts'
import { noteOverlays } from './disks/directory-users.ts'
import { findStagedDevice } from './disks/find-volume-device.ts'
import { requireNothingHidden } from './disks/hidden-file-systems.ts'
import { noteMounted } from './disks/mounted-disks.ts'
import { requireDeviceUnused, takesDevice } from './disks/require-device-unused.ts'
import { requireNotSetUpElsewhere } from './disks/set-up-elsewhere.ts'
import { requireNothingNew } from './mounts/orphan-dir.ts'
import { requireExpectedMounts } from './operation/expected-mounts.ts'
import type { Witness } from './operation/ports.ts'
import { requireUnused } from './operation/preconditions.ts'
import { requireNoReaders } from './operation/readers.ts'
import type { StepContext } from './operation/step-context.ts'
import { runSteps } from './run-steps.ts'

/** Operations of a pod that wants the volume; the others are of pods that must be gone, or of no pod. */
const BRINGING_UP = new Set<OperationKind>(['MountVolume', 'MapVolume', 'RemountVolume', 'ExpandVolume'])

/** Answers about pods may be shared by operations that start within this time. */
const WITNESS_AGE_MS = 1000

export async function runOperation(operation: Operation, apply: ApplyRun): Promise<void> {
  const steps = apply.begin(operation)
  await apply.attempt(operation, async () => {
    await apply.requireNoKubelet()
    // A detach asks the API itself, in the same second (S21).
    if (operation.kind !== 'DetachVolume')
      await requireConditions(operation, steps, await apply.witness(WITNESS_AGE_MS))
    apply.intend([operation])
    const done = await runSteps(operation.steps, steps, (step) => apply.sayStep(operation, step))
    return { ...done, message: done.waiting ?? [operation.message, ...done.stays].join('; ') }
  })
}

/** @throws OperationRefused */
export async function requireConditions(operation: Operation, steps: StepContext, witness: Witness): Promise<void> {
  if (BRINGING_UP.has(operation.kind)) {
    requirePrograms(operation, steps.host)
    const wanted = requireWanted(operation, witness, steps.context)
    await requireStillReported(wanted, steps)
    steps.bringUp.wanted = wanted
  } else await requireUnused(operation, witness, steps.context)
  requireExpectedMounts(operation, steps.around)
  requireSameFiles(operation, steps.host)
  noteMounted(steps)
  noteOverlays(steps)
  if (takesDevice(operation)) await findStagedDevice(steps)
  if (operation.kind === 'UnmountDevice' || operation.kind === 'UnmapDevice') {
    requireNoReaders(operation, steps.around, steps.host, steps.context.nameOf)
    requireNotSetUpElsewhere(steps)
  }
  if (operation.steps.some(({ op }) => op === 'NodeUnstageVolume')) await requireNothingHidden(steps)
  await requireDeviceUnused(steps, witness)
  if (operation.kind === 'RemoveOrphanPodDir') requireNothingNew(operation, steps)
  await requireNoUsers(steps)
}
