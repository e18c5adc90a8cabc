/** One operation alone: its conditions, the intent in the journal, the steps, the outcome. */
import type { Operation } from '../plan/plan.ts'
import { type ApplyRun, BRINGING_UP, WITNESS_AGE_MS } from './apply-run.ts'
import { requireNetwork, requireNothingNew, requireSameFiles, requireWanted } from './conditions/require.ts'
import { requireExpectedMounts } from './operation/expected-mounts.ts'
import type { Witness } from './operation/ports.ts'
import { requireUnused } from './operation/preconditions.ts'
import type { StepContext } from './operation/step-context.ts'
import { requireNobody } from './require-nobody.ts'
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
 * Their order matters (S26). First what touches no path: the network, the pods. Then the mounts: once they are the
 * expected ones, no path leads below a foreign mount, and files may be looked at. The users last: that look takes longest.
 *
 * @throws OperationRefused
 */
export async function requireConditions(operation: Operation, run: StepContext, witness: Witness): Promise<void> {
  if (BRINGING_UP.has(operation.kind)) {
    requireNetwork(operation, run.host)
    run.bringUp.wanted = requireWanted(operation, witness, run.context)
  } else await requireUnused(operation, witness, run.context)
  requireExpectedMounts(operation, run.around)
  requireSameFiles(operation, run.host)
  if (operation.kind === 'RemoveOrphanPodDir') requireNothingNew(operation, run)
  await requireNobody(operation, run, witness)
}
