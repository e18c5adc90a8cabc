/** The answer at the end of an apply: that of the fresh look; next comes what lifts the first thing that failed. */
import { causeOf } from '../codes/codes.ts'
import type { ClusterPlan } from '../plan/cluster-plan.ts'
import type { Outcome } from '../plan/events.ts'
import { endOf, type Given, volctl } from '../plan/next-steps.ts'
import type { NextStep, Operation, Plan } from '../plan/plan.ts'
import { namespacedName } from '../plan/pod-name.ts'
import type { Answer } from './answer.ts'
import { type ClusterGiven, clusterAnswerOf } from './cluster-answer.ts'
import { answerOf } from './make-answer.ts'

interface Ended {
  readonly outcomes: readonly Outcome[]
}

/** @param plan what was carried out; an outcome has only the ids of its operations @param after with its next steps @param given the flags in force */
export function answerAfter(
  { outcomes }: Ended,
  { operations }: Pick<Plan, 'operations'>,
  after: Plan,
  given: Given,
): Answer {
  const failed = failedOf(outcomes, operations)
  const step = failed && stepAfter(...failed, after, given)
  return { ...answerOf(after), notes: [], ...(step !== undefined && { next: [step] }) }
}

export function clusterAnswerAfter(
  { outcomes }: Ended,
  { operations }: Pick<ClusterPlan, 'operations'>,
  after: ClusterPlan,
  given: ClusterGiven,
): Answer {
  const failed = failedOf(outcomes, operations)
  if (failed === undefined) return { ...clusterAnswerOf(after, given), notes: [] }
  const [, { attachment }] = failed
  const command = volctl('plan', '--cluster', ...(given.reading ?? []), `va/${attachment.name}`)
  return { ...clusterAnswerOf(after, given), notes: [], next: [{ command, why: WHY }] }
}

const WHY = 'says what is wrong, and what to do'

/** What nobody has looked at again is never called done. */
function failedOf<O extends { readonly id: string }>(
  outcomes: readonly Outcome[],
  operations: readonly O[],
): readonly [Outcome, O] | undefined {
  const failed = outcomes.find(({ state, code }) => ENDED_BADLY.has(state) && !PASSES.has(causeOf(code) ?? ''))
  const operation = operations.find(({ id }) => id === failed?.id)
  return failed === undefined || operation === undefined ? undefined : [failed, operation]
}

const ENDED_BADLY: ReadonlySet<Outcome['state']> = new Set<Outcome['state']>(['failed', 'refused'])

/** Kinds that a fresh plan says all about: something changed, or a kubelet came back. */
const PASSES: ReadonlySet<string> = new Set(['follows', 'kubelet', 'controller'])

function stepAfter(
  { code }: Outcome,
  { id, pod, volume, paths }: Operation,
  after: Plan,
  { words, reading = [] }: Given,
): NextStep {
  const name = volume?.persistentVolume ?? volume?.name
  if (causeOf(code) === 'in-use' && name !== undefined) {
    const users = after.operations.find((each) => each.id === id)?.blocked?.users
    const again = words.includes('--volume') ? words : [...words, '--volume', name]
    return { first: endOf(users), command: volctl('apply', ...again), why: 'does this volume again' }
  }
  const what = pod === undefined ? (name ?? paths[0] ?? '') : pod.name === undefined ? pod.uid : namespacedName(pod)
  return { command: volctl('explain', ...reading, what), why: WHY }
}
