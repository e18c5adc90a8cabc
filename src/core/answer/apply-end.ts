/** What to type after an apply: what lifts the first thing that failed; else what the fresh look says. */
import { causeOf } from '../codes/codes.ts'
import type { ApplyResult, Outcome } from '../plan/events.ts'
import { volctl } from '../plan/next-steps.ts'
import type { NextStep, Operation, Plan } from '../plan/plan.ts'
import { namespacedName } from '../plan/pod-name.ts'

/** @param plan what was carried out; an outcome has only the ids of its operations */
export function nextAfter(
  { outcomes }: Pick<ApplyResult, 'outcomes'>,
  { operations }: Pick<Plan, 'operations'>,
  after: Plan,
): readonly NextStep[] {
  const failed = outcomes.find(({ state, code }) => ENDED_BADLY.has(state) && !PASSES.has(causeOf(code) ?? ''))
  const operation = failed && operations.find(({ id }) => id === failed.id)
  // What nobody has looked at again is never called done.
  if (failed === undefined || operation === undefined) return after.summary.next ?? []
  return [stepAfter(failed, operation)]
}

const ENDED_BADLY: ReadonlySet<Outcome['state']> = new Set<Outcome['state']>(['failed', 'refused'])

/** Kinds of which a fresh plan says all: something changed, or a kubelet came back. */
const PASSES: ReadonlySet<string> = new Set(['follows', 'kubelet', 'controller'])

function stepAfter({ code }: Outcome, { pod, volume, paths }: Operation): NextStep {
  const name = volume?.persistentVolume ?? volume?.name
  if (causeOf(code) === 'in-use' && name !== undefined)
    return { first: 'end that use', command: volctl('apply', '--volume', name), why: 'does this volume again' }
  const what = pod === undefined ? (name ?? paths[0] ?? '') : pod.name === undefined ? pod.uid : namespacedName(pod)
  return { command: volctl('explain', what), why: 'says what is wrong, and what to do' }
}
