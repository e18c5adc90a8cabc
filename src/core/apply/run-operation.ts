/** One operation alone: the rules, the intent in the journal, the steps, the outcome. */
import { TAKING_AWAY } from '../plan/kinds.ts'
import type { Operation } from '../plan/plan.ts'
import type { Witness } from '../rules/machine-facts.ts'
import { wantedNow } from '../rules/pods-now.ts'
import { requireRules } from '../rules/rules.ts'
import { type ApplyRun, WITNESS_AGE_MS } from './apply-run.ts'
import { noteMounted } from './disks/remove-disks.ts'
import type { StepContext } from './operation/step-context.ts'
import { runSteps } from './run-steps.ts'

export async function runOperation(operation: Operation, apply: ApplyRun): Promise<void> {
  const run = apply.begin(operation)
  await apply.attempt(operation, async () => {
    const asked = performance.now()
    await apply.requireNoKubelet()
    // A detach asks the API itself, in the same second (S21).
    if (operation.kind !== 'DetachVolume') {
      await requireConditions(run, await apply.witness(WITNESS_AGE_MS), 'apply')
      const again = await apply.askAgain(asked)
      if (again !== undefined) {
        run.around.changed()
        await requireConditions(run, again, 'again')
      }
    }
    apply.intend([operation])
    const done = await runSteps(operation.steps, run, (step) => apply.sayStep(operation, step))
    return { ...done, message: done.waiting ?? [operation.message, ...done.stays].join('; ') }
  })
}

/** @param when `again`: judging the others took long (S26) @throws OperationRefused */
export async function requireConditions(run: StepContext, witness: Witness, when: 'apply' | 'again'): Promise<void> {
  const { operation, context } = run
  await requireRules(run, witness, when)
  if (!TAKING_AWAY.has(operation.kind)) run.bringUp.wanted = wantedNow(operation, witness, context)
  else if (when === 'apply') noteMounted(run)
}
