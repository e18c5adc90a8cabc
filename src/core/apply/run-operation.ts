/** One operation alone: the rules, the intent in the journal, the steps, the outcome. */

import type { Undo } from '../base/undo.ts'
import { TAKING_AWAY } from '../plan/kinds.ts'
import type { Operation } from '../plan/plan.ts'
import { wantedNow } from '../rules/api-now.ts'
import { noteMounted } from '../rules/luns.ts'
import type { Witness } from '../rules/machine-facts.ts'
import { requireRules } from '../rules/rules.ts'
import { type ApplyRun, WITNESS_AGE_MS } from './apply-run.ts'
import type { StepContext } from './operation/ports.ts'
import { takeBack } from './operation/take-back.ts'
import { carryOut } from './step-table.ts'

export async function runOperation(operation: Operation, apply: ApplyRun): Promise<void> {
  const run = apply.begin(operation)
  await apply.survives(operation, async () => {
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
    await runSteps(operation, run, apply)
  })
  apply.flushOutcomes()
}

/** @param when `again`: judging the others took long (S26) @throws OperationRefused */
export async function requireConditions(run: StepContext, witness: Witness, when: 'apply' | 'again'): Promise<void> {
  const facts = { ...run, witness }
  await requireRules(facts, when)
  if (!TAKING_AWAY.has(run.operation.kind)) run.bringUp.wanted = wantedNow(facts)
  else if (when === 'apply') noteMounted(run)
}

/** Its steps, in their order. If one that sets up a volume fails, what earlier ones made is undone. */
async function runSteps(operation: Operation, run: StepContext, apply: ApplyRun): Promise<void> {
  const deleted = { files: 0, bytes: 0 }
  // What another component (the controller, the attacher) still has to do.
  let waiting: string | undefined
  const stays = new Set<string>()
  const made: Undo[] = []
  try {
    for (const step of operation.steps) {
      apply.say(operation, `${step.op} ${step.target}`, { step })
      const result = await carryOut(step, run)
      if (result.takesOver) made.length = 0
      made.push(...(result.undos ?? []))
      deleted.files += result.deleted?.files ?? 0
      deleted.bytes += result.deleted?.bytes ?? 0
      waiting = result.waiting ?? waiting
      if (result.stays !== undefined) stays.add(result.stays)
    }
  } catch (error) {
    throw await takeBack(made, error, run)
  }
  const message = waiting ?? [operation.message, ...stays].join('; ')
  apply.succeed(operation, message, deleted.files > 0 ? { deleted } : {})
}
