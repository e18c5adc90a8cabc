/** In one line what becomes of a thing of the cluster: what the plan says, the worst first, as status has it. */

import type { Verdict } from '../../explain/explanation.ts'
import type { ClusterOperation, ClusterProblem, ClusterVolumeRef } from '../../plan/cluster-plan.ts'
import type { Concern } from './scope.ts'

/** @param quiet what to say where the plan says nothing @param named several volumes are asked about: each is named */
export function verdictOf(concern: Concern, quiet: Verdict, named: boolean): Verdict {
  const { operations, waiting, problems } = concern
  const label = (volume: ClusterVolumeRef | undefined): string =>
    named && volume !== undefined ? `volume ${volume.claim ?? volume.name}: ` : ''
  const blocked = operations.find((each) => each.blocked !== undefined)
  const [wait] = waiting
  const ready = operations.find((each) => each.blocked === undefined)
  return (
    problemVerdict(problems.find(({ severity }) => severity === 'error')) ??
    (blocked && blockedVerdict(blocked, label(blocked.volume))) ??
    (wait && {
      state: 'waiting',
      message: `${label(wait.volume)}${wait.kind} waits: ${wait.message}`,
      code: wait.code,
      rule: wait.rule,
    }) ??
    (ready && {
      state: 'operation',
      message: `${label(ready.volume)}${ready.kind}: ${ready.message}`,
      code: ready.reason,
      rule: ready.rule,
    }) ??
    problemVerdict(problems.find(({ severity }) => severity === 'warning')) ??
    quiet
  )
}

function problemVerdict(problem: ClusterProblem | undefined): Verdict | undefined {
  return problem && { state: 'problem', message: problem.message, code: problem.code }
}

function blockedVerdict({ kind, blocked, rule }: ClusterOperation, label: string): Verdict {
  return {
    state: 'blocked',
    message: `${label}${kind} is blocked: ${blocked?.message ?? ''}`,
    ...(blocked !== undefined && { code: blocked.code }),
    rule,
  }
}

const ORDER: readonly Verdict['state'][] = ['problem', 'blocked', 'waiting', 'operation', 'nothing']

export function worstFirst(a: { readonly verdict: Verdict }, b: { readonly verdict: Verdict }): number {
  return ORDER.indexOf(a.verdict.state) - ORDER.indexOf(b.verdict.state)
}
