/** In one line the worst thing about it, in the words of its cause. */

import { omitUndefined } from '../base/omit-undefined.ts'
import { CSI_PLUGIN } from '../facts/actual/volume-names.ts'
import { causeOf } from '../messages/codes.ts'
import type { Cause } from '../plan/cause.ts'
import { EXPLAINED_STATES } from '../plan/kinds.ts'
import type { Operation, Problem } from '../plan/plan.ts'
import type { Decision } from '../reconcile/decisions.ts'
import type { Concern } from './concern.ts'
import type { Place, Verdict, VolumeView } from './explanation.ts'

/** What is known beside the plan, each undefined where there is no such thing. */
interface Beside {
  /** Worse than all but an error. */
  readonly dead?: Verdict | undefined
  /** A pod that must not be touched: worse than a wait. */
  readonly untouchable?: Verdict | undefined
  /** Where nothing else is to be said. */
  readonly nothing: Verdict
  /** It is all about one pod, which is not named again. */
  readonly ofPod?: boolean
}

/** @param causes of the plan */
export function verdictOf(
  { operations, waiting, problems, decisions }: Concern,
  causes: readonly Cause[],
  beside: Beside,
): Verdict {
  const { dead, untouchable, nothing, ofPod = false } = beside
  const isStuck = ({ blocked }: Operation): boolean =>
    blocked !== undefined && causeWith(causes, blocked)?.severity !== 'info'
  return (
    // A dead mount has its own words, if a place shows it.
    problemVerdict(problems, 'error', dead) ??
    dead ??
    blockedVerdict(operations.filter(isStuck), causes) ??
    untouchable ??
    waitingVerdict(waiting) ??
    readyVerdict(
      operations.filter(({ blocked }) => blocked === undefined),
      ofPod,
    ) ??
    blockedVerdict(operations, causes) ??
    doubtVerdict(decisions) ??
    problemVerdict(problems, 'warning', dead) ??
    nothing
  )
}

function problemVerdict(
  problems: Concern['problems'],
  severity: Problem['severity'],
  dead: Verdict | undefined,
): Verdict | undefined {
  const found = problems.find((each) => each.severity === severity && each.code !== dead?.code)
  return found && { state: 'problem', message: found.message, code: found.code }
}

/** By the obstacle itself, not by what only follows from it. */
function blockedVerdict(operations: Concern['operations'], causes: readonly Cause[]): Verdict | undefined {
  const own = operations.filter(({ blocked }) => causeWith(causes, blocked)?.code === blocked?.code)
  const first = mattersMost(own) ?? operations.find(({ blocked }) => blocked !== undefined)
  if (first?.blocked === undefined) return undefined
  const { code, message } = first.blocked
  const says = causeWith(causes, first.blocked)
  return { state: 'blocked', message: says?.message ?? message, code: says?.code ?? code, rule: first.rule }
}

function causeWith(causes: readonly Cause[], blocked: Operation['blocked']): Cause | undefined {
  return causes.find(({ key }) => key === blocked?.cause)
}

function waitingVerdict(waiting: Concern['waiting']): Verdict | undefined {
  const first = mattersMost(waiting)
  return first && { state: 'waiting', message: first.message, code: first.code, rule: first.rule }
}

function readyVerdict(operations: Concern['operations'], ofPod: boolean): Verdict | undefined {
  const first = mattersMost(operations)
  const message = (ofPod ? first?.podState : undefined) ?? first?.message ?? ''
  return first && { state: 'operation', message, code: first.reason, rule: first.rule }
}

/** The first of a volume with people's data: a config map comes back, and is done with at once. */
function mattersMost<T extends Pick<Operation, 'volume'>>(list: readonly T[]): T | undefined {
  return list.find(({ volume }) => volume?.persistentVolume !== undefined || volume?.plugin === CSI_PLUGIN) ?? list[0]
}

/** A decision of the planner; without a rule where there was nothing to decide. */
export type Because = Pick<Decision, 'why'> & Partial<Pick<Decision, 'rule'>>

export function nothingVerdict({ why, rule }: Because): Verdict {
  return { state: 'nothing', message: `nothing to do: ${why}`, ...omitUndefined({ rule }) }
}

export function deadVerdict(places: readonly Place[]): Verdict | undefined {
  const place = places.find(({ dead }) => dead !== undefined)
  return place && { state: 'problem', message: `the mount on ${place.path} is dead: ${place.dead}`, code: 'DeadMount' }
}

/** Something is left for a doubt that a person can end (S3). */
function doubtVerdict(decisions: readonly Decision[]): Verdict | undefined {
  const found = decisions.find(({ obstacle }) => obstacle !== undefined)
  if (found?.obstacle === undefined) return undefined
  const { code, message } = found.obstacle
  return { state: 'problem', message: `left alone: ${message}`, code, rule: found.rule }
}

// What an answer is about first: what is worst off, and of that the one with most behind it.

/** What only a flag is missing for comes after what would be done. */
export function worstFirst(a: { readonly verdict: Verdict }, b: { readonly verdict: Verdict }): number {
  return rankOf(a.verdict) - rankOf(b.verdict)
}

function rankOf({ state, code: of }: Verdict): number {
  const kind = of && causeOf(of)
  const isAsked = state === 'blocked' && (kind === 'data' || kind === 'asked')
  return isAsked ? EXPLAINED_STATES.indexOf('operation') + 0.5 : EXPLAINED_STATES.indexOf(state)
}

/** A volume with a claim matters more than a config map. */
export function byWorst(volumes: readonly VolumeView[]): VolumeView[] {
  return volumes.toSorted(
    (a, b) => deadFirst(a) - deadFirst(b) || worstFirst(a, b) || badOf(b) - badOf(a) || b.chain.length - a.chain.length,
  )
}

function deadFirst({ places }: VolumeView): number {
  return places.some(({ dead }) => dead !== undefined) ? 0 : 1
}

/** Is a link broken. */
function badOf({ chain }: VolumeView): number {
  return chain.some(({ state }) => state === 'bad') ? 1 : 0
}
