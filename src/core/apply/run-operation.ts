/** One operation by itself: its conditions, the intent in the journal, the steps, the outcome. */
import type { Operation } from '../plan/plan.ts'
import { type ApplyRun, BRINGING_UP, WITNESS_AGE_MS } from './apply-run.ts'
import {
  requireNetwork,
  requireNothingNew,
  requirePrograms,
  requireSameFiles,
  requireWanted,
} from './conditions/require.ts'
import { requireNoUsers } from './conditions/require-content-unused.ts'
import { requireStillReported } from './conditions/require-reported.ts'
import { noteOverlays } from './disks/directory-users.ts'
import { findStagedDevice } from './disks/find-volume-device.ts'
import { noteMounted } from './disks/mounted-disks.ts'
import { requireDeviceUnused, takesDevice } from './disks/require-device-unused.ts'
import { requireNothingHidden } from './disks/require-nothing-hidden.ts'
import { requireNotSetUpElsewhere } from './disks/set-up-elsewhere.ts'
import { requireExpectedMounts } from './operation/expected-mounts.ts'
import type { Witness } from './operation/ports.ts'
import { requireUnused } from './operation/preconditions.ts'
import { requireNoReaders } from './operation/readers.ts'
import type { StepContext } from './operation/step-context.ts'
import { runSteps } from './run-steps.ts'

export async function runOperation(operation: Operation, apply: ApplyRun): Promise<void> {
  const run = apply.begin(operation)
  await apply.attempt(operation, async () => {
    const asked = performance.now()
    await apply.requireNoKubelet()
    // A detach asks the API itself, in the same second (S21).
    if (operation.kind !== 'DetachVolume') {
      await requireConditions(operation, run, await apply.witness(WITNESS_AGE_MS))
      const again = await apply.askAgain(asked)
      if (again !== undefined) {
        run.around.changed()
        await requireStillSo(operation, run, again)
      }
    }
    apply.intend([operation])
    const done = await runSteps(operation.steps, run, (step) => apply.sayStep(operation, step))
    return { ...done, message: done.waiting ?? [operation.message, ...done.stays].join('; ') }
  })
}

/**
 * The conditions on pods and mounts, once more: judging the others took long (S26).
 *
 * @throws OperationRefused
 */
export async function requireStillSo(operation: Operation, run: StepContext, witness: Witness): Promise<void> {
  if (BRINGING_UP.has(operation.kind)) run.bringUp.wanted = requireWanted(operation, witness, run.context)
  else await requireUnused(operation, witness, run.context)
  requireExpectedMounts(operation, run.around)
}

/**
 * Their order matters (S26). First what touches no path: programs, the network, the pods. Then the mounts: once they are the
 * expected ones, no path leads below a foreign mount, and files may be looked at. Then what each device is, before anyone asks
 * who has it. The users last: that look takes longest, and is to be the freshest when the first step begins.
 *
 * @throws OperationRefused
 */
export async function requireConditions(operation: Operation, run: StepContext, witness: Witness): Promise<void> {
  if (BRINGING_UP.has(operation.kind)) {
    requirePrograms(operation, run.host)
    requireNetwork(operation, run.host)
    const wanted = requireWanted(operation, witness, run.context)
    await requireStillReported(wanted, run)
    run.bringUp.wanted = wanted
  } else await requireUnused(operation, witness, run.context)
  requireExpectedMounts(operation, run.around)
  requireSameFiles(operation, run.host)
  noteMounted(run)
  noteOverlays(run)
  if (takesDevice(operation)) await findStagedDevice(run)
  if (operation.kind === 'UnmountDevice' || operation.kind === 'UnmapDevice') {
    requireNoReaders(operation, run.around, run.host, run.context.nameOf)
    requireNotSetUpElsewhere(run)
  }
  if (operation.steps.some(({ op }) => op === 'NodeUnstageVolume')) await requireNothingHidden(run)
  await requireDeviceUnused(run, witness)
  if (operation.kind === 'RemoveOrphanPodDir') requireNothingNew(operation, run)
  await requireNoUsers(run)
}
