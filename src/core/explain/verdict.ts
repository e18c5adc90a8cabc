/** In one line the worst thing about it, in the words of its cause. */

import { causeOf } from '../messages/codes.ts'
import { said } from '../messages/findings.ts'
import type { Cause } from '../plan/cause.ts'
import { EXPLAINED_STATES } from '../plan/kinds.ts'
import type { Operation, Problem } from '../plan/plan.ts'
import type { Decision } from '../reconcile/decisions.ts'
import { CSI_PLUGIN } from '../volumes/volume-names.ts'
import type { Concern } from './concern.ts'
import type { DeadMount, Verdict, VolumeView } from './explanation.ts'

/** What is known beside the plan, each undefined where there is no such thing. */
interface Beside {
  /** Worse than all but an error. */
  readonly dead?: Verdict
  /** A pod that must not be touched: worse than a wait. */
  readonly untouchable?: Verdict
  /** Where nothing else is to be said. */
  readonly nothing: Verdict
  /** It is all about one pod, which is not named again. */
  readonly ofPod?: boolean
}

/** @param causes of the plan */
export function verdictOf(
  { operations, waiting, problems, decisions }: Concern,
  causes: readonly Cause[],
  { dead, untouchable, nothing, ofPod = false }: Beside,
): Verdict {
  const causeOfBlock = (blocked: Operation['blocked']): Cause | undefined =>
    causes.find(({ key }) => key === blocked?.cause)
  // A dead mount has its own words, if a place shows it.
  const problem = (severity: Problem['severity']): Verdict | undefined => {
    const found = problems.find((each) => each.severity === severity && each.code !== dead?.code)
    return found && { state: 'problem', message: found.message, args: found.args, code: found.code }
  }
  // By the obstacle itself, not by what only follows from it.
  const blockedAmong = (blocked: readonly Operation[]): Verdict | undefined => {
    const own = blocked.filter((each) => causeOfBlock(each.blocked)?.code === each.blocked?.code)
    const first = mattersMost(own) ?? blocked[0]
    if (first?.blocked === undefined) return undefined
    const { code, message, args } = causeOfBlock(first.blocked) ?? first.blocked
    return { state: 'blocked', message, args, code, rule: first.rule }
  }
  const blocked = operations.filter((each) => each.blocked !== undefined)
  const isStuck = (each: Operation): boolean => causeOfBlock(each.blocked)?.severity !== 'info'
  const wait = mattersMost(waiting)
  const ready = mattersMost(operations.filter((each) => each.blocked === undefined))
  const state = ofPod ? ready?.podState : undefined
  // Something is left for a doubt that a person can end (S3).
  const doubt = decisions.find(({ obstacle }) => obstacle !== undefined)
  return (
    problem('error') ??
    dead ??
    blockedAmong(blocked.filter(isStuck)) ??
    untouchable ??
    (wait && { state: 'waiting', message: wait.message, args: wait.args, code: wait.code, rule: wait.rule }) ??
    (ready && { state: 'operation', message: state ?? ready.message, code: ready.reason, rule: ready.rule }) ??
    blockedAmong(blocked) ??
    (doubt?.obstacle && {
      state: 'problem',
      message: `left alone: ${doubt.obstacle.message}`,
      code: doubt.obstacle.code,
      rule: doubt.rule,
    }) ??
    problem('warning') ??
    nothing
  )
}

/** The first of a volume with people's data: a config map comes back, and is done with at once. */
function mattersMost<T extends Pick<Operation, 'volume'>>(list: readonly T[]): T | undefined {
  return list.find(({ volume }) => volume?.persistentVolume !== undefined || volume?.plugin === CSI_PLUGIN) ?? list[0]
}

/** A decision of the planner; without a rule where there was nothing to decide. */
export type Because = Pick<Decision, 'why'> & Partial<Pick<Decision, 'rule'>>

export function nothingVerdict({ why, rule }: Because): Verdict {
  return { state: 'nothing', message: `nothing to do: ${why}`, rule }
}

export function deadVerdict({ path, dead }: DeadMount): Verdict {
  return { state: 'problem', ...said('DeadMount.mount', { path, error: dead }) }
}

// What an answer is about first: what is worst off, and of that the one with most behind it.

/** What only a flag is missing for comes after what would be done. */
export function rankOf({ verdict: { state, code: of } }: Pick<VolumeView, 'verdict'>): number {
  const kind = of && causeOf(of)
  const isAsked = state === 'blocked' && (kind === 'data' || kind === 'asked')
  return isAsked ? EXPLAINED_STATES.indexOf('operation') + 0.5 : EXPLAINED_STATES.indexOf(state)
}

/** What is dead comes first, what has a broken link before what has none; a volume with a claim matters more than a config map. */
export function byWorst(volumes: readonly VolumeView[]): VolumeView[] {
  const isDead = ({ dead }: VolumeView): number => (dead === undefined ? 0 : 1)
  const isBroken = ({ chain }: VolumeView): number => (chain.some(({ state }) => state === 'bad') ? 1 : 0)
  return volumes.toSorted(
    (a, b) =>
      isDead(b) - isDead(a) || rankOf(a) - rankOf(b) || isBroken(b) - isBroken(a) || b.chain.length - a.chain.length,
  )
}
