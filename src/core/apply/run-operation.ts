/** One operation alone: the rules, the intent in the journal, the steps, the outcome. */

import { TAKING_AWAY } from '../plan/kinds.ts'
import type { Operation } from '../plan/plan.ts'
import { wantedNow } from '../rules/api-now.ts'
import { noteMounted } from '../rules/luns.ts'
import type { Witness } from '../rules/machine-facts.ts'
import { requireRules } from '../rules/rules.ts'
import { type ApplyRun, WITNESS_AGE_MS } from './apply-run.ts'
import type { StepContext } from './operation/step.ts'
import { orTakeBack } from './operation/take-back.ts'
import { carryOut } from './step-table.ts'

/** @throws what is its end */
export async function runOperation(operation: Operation, apply: ApplyRun): Promise<void> {
  const { ready } = await judgedNow([apply.begin(operation)], apply, WITNESS_AGE_MS)
  for (const run of ready) await runSteps(operation, run, apply)
  apply.flushOutcomes()
}

/**
 * Judged by the rules, and written to the journal. Judging may have taken long, because of a slow API server, a dead mount, a stopped
 * terminal or a suspended process, and a kubelet or a pod may have come meanwhile: then it is asked once more (S11, S26).
 *
 * @param maxAgeMs what is known of the pods may be as old
 * @returns those that may run, and when kubelet and pods were asked for
 * @throws what is the end of all that have no outcome yet
 */
export async function judgedNow(runs: readonly StepContext[], apply: ApplyRun, maxAgeMs: number) {
  let asked = performance.now()
  await apply.requireNoKubelet()
  let ready = runs
  // A detach asks the API itself, in the same second (S21).
  if (runs.some(({ operation }) => operation.kind !== 'DetachVolume')) {
    const checked = await apply.witness(maxAgeMs)
    ready = await apply.surviving(runs, (run) => requireConditions(run, checked, 'apply'))
    if (ready.length > 0 && performance.now() - asked > WITNESS_AGE_MS) {
      asked = performance.now()
      const again = await apply.witness(WITNESS_AGE_MS)
      for (const { around } of ready) around.changed()
      ready = await apply.surviving(ready, (run) => requireConditions(run, again, 'again'))
    }
  }
  if (ready.length > 0) apply.intend(ready.map(({ operation }) => operation))
  return { ready, asked }
}

/** @throws OperationRefused */
async function requireConditions(run: StepContext, witness: Witness, when: 'apply' | 'again'): Promise<void> {
  const facts = { ...run, witness }
  await requireRules(facts, when)
  if (!TAKING_AWAY.has(run.operation.kind)) run.bringUp.wanted = wantedNow(facts)
  else if (when === 'apply') noteMounted(run)
}

/** Its steps, in their order. If one that sets up a volume fails, what earlier ones made is undone. */
async function runSteps(operation: Operation, run: StepContext, apply: ApplyRun): Promise<void> {
  const stays = new Set<string>()
  await orTakeBack(run, async () => {
    for (const step of operation.steps) {
      apply.say(operation, `${step.op} ${step.target}`, { step })
      const left = await carryOut(step, run)
      if (typeof left === 'string') stays.add(left)
    }
  })
  // What another component (the controller, the attacher) still has to do to detach it is said instead.
  const done = operation.kind === 'DetachVolume' && stays.size > 0 ? [] : [operation.message]
  const deleted = run.deleted.files > 0 ? run.deleted : undefined
  apply.settle(operation, 'done', { message: [...done, ...stays].join('; '), deleted })
}
