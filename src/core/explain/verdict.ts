/**
 * In one line the worst thing about it: an error, a dead mount, what is blocked, what is waited for, then work to do; else
 * what is unknown or doubtful, or nothing and why.
 */

import { defined } from '../lang/defined.ts'
import type { Operation, Problem, Severity, VolumeRef, Waiting } from '../plan/plan.ts'
import type { Decision } from '../reconcile/decisions.ts'
import type { Concern } from './concern.ts'
import type { Place, Verdict } from './explanation.ts'
import { isOnlyNotAsked } from './not-asked-for.ts'

/** A decision of the planner; without a rule where there was nothing to decide. */
export type Because = Pick<Decision, 'why'> & Partial<Pick<Decision, 'rule'>>

interface Judged {
  /** The planner's word for it, where nothing is to be done. */
  readonly nothing: Because
  /** Of a pod that must not be touched: why. */
  readonly untouchable?: Verdict | undefined
  /** A dead mount among these is worse than all but an error. */
  readonly places: readonly Place[]
}

export function verdictOf(concern: Concern, { nothing, untouchable, places }: Judged): Verdict {
  const { operations, before, waiting, problems, decisions } = concern
  const all = [...before, ...operations]
  const sorted: Sorted = {
    runnable: operations.filter(({ blocked }) => blocked === undefined),
    // What is only not asked for is in nobody's way.
    stuck: operations.filter((each) => each.blocked !== undefined && !isOnlyNotAsked(each, all)),
    notAsked: operations.filter((each) => each.blocked !== undefined && isOnlyNotAsked(each, all)),
    waiting,
  }
  const { why, rule } = nothing
  return (
    ofProblem(problems, 'error', places) ??
    ofDeath(places, problems, sorted) ??
    ofBlocked(sorted.stuck, sorted) ??
    untouchable ??
    ofWaiting(sorted) ??
    ofRunnable(sorted) ??
    ofBlocked(sorted.notAsked, sorted) ??
    ofObstacle(decisions) ??
    // What is only noted is no reason to worry.
    ofProblem(problems, 'warning', places) ?? {
      state: 'nothing',
      message: `nothing to do: ${why}`,
      ...defined({ rule }),
    }
  )
}

/** What concerns the thing, by what becomes of it. */
interface Sorted {
  readonly runnable: readonly Operation[]
  readonly stuck: readonly Operation[]
  readonly notAsked: readonly Operation[]
  readonly waiting: readonly Waiting[]
}

/** A dead mount has words of its own (ofDeath), where a place shows it. */
function ofProblem(problems: readonly Problem[], severity: Severity, places: readonly Place[]): Verdict | undefined {
  const isSaidBetter = places.some(({ dead }) => dead !== undefined)
  const found = problems.find((each) => each.severity === severity && !(isSaidBetter && each.code === 'DeadMount'))
  return found && { state: 'problem', message: found.message, code: found.code }
}

function ofDeath(places: readonly Place[], problems: readonly Problem[], sorted: Sorted): Verdict | undefined {
  const place = places.find(({ dead }) => dead !== undefined)
  if (place === undefined) return undefined
  const isUsed = problems.some(({ code, message }) => code === 'DeadMount' && message.includes('running containers'))
  const used = isUsed ? ', and running containers use it' : ''
  const message = `the mount on ${place.path} is dead: ${place.dead}${used}${withRest(sorted)}`
  return { state: 'problem', message, code: 'DeadMount' }
}

/** By the obstacle itself, not by what only follows from it. */
function ofBlocked(list: readonly Operation[], sorted: Sorted): Verdict | undefined {
  const causes = list.filter(({ blocked }) => blocked?.code !== 'Predecessor')
  const cause = mattersMost(causes.length > 0 ? causes : list)
  if (cause?.blocked === undefined) return undefined
  const { code, message } = cause.blocked
  const what =
    list.length === 1
      ? `${titleOf(cause)} is needed, but blocked`
      : `${list.length} operations are needed (${kindsOf(list)}), but blocked`
  const rest = also({ runnable: sorted.runnable, waiting: sorted.waiting })
  return { state: 'blocked', message: `${what}${rest}: ${about(list, cause)}${message}`, code, rule: cause.rule }
}

function ofWaiting({ waiting, runnable, notAsked }: Sorted): Verdict | undefined {
  const first = mattersMost(waiting)
  if (first === undefined) return undefined
  const what = waiting.length === 1 ? `${titleOf(first)} waits` : `${waiting.length} operations wait`
  const message = `${what}${also({ runnable, blocked: notAsked })}: ${about(waiting, first)}${first.message}`
  return { state: 'waiting', message, code: first.code, rule: first.rule }
}

function ofRunnable({ runnable, notAsked }: Sorted): Verdict | undefined {
  const first = mattersMost(runnable)
  if (first === undefined) return undefined
  const what =
    runnable.length === 1 ? `${first.kind} planned` : `${runnable.length} operations planned (${kindsOf(runnable)})`
  const message = `${what}${also({ blocked: notAsked })}: ${first.message}`
  return { state: 'operation', message, code: first.reason, rule: first.rule }
}

function ofObstacle(decisions: readonly Decision[]): Verdict | undefined {
  const found = decisions.find(({ obstacle }) => obstacle !== undefined)
  if (found?.obstacle === undefined) return undefined
  const { code, message } = found.obstacle
  return { state: 'problem', message: `left alone: ${message}`, code, rule: found.rule }
}

/** The first of a volume with people's data, else the first: a config map comes back, and is done with at once. */
function mattersMost<T extends { readonly volume?: VolumeRef }>(list: readonly T[]): T | undefined {
  return list.find(({ volume }) => volume?.persistentVolume !== undefined || volume?.driver !== undefined) ?? list[0]
}

/** Which volume, where the verdict is about one of several. */
function about(list: readonly { readonly volume?: VolumeRef }[], { volume }: { readonly volume?: VolumeRef }): string {
  const names = new Set(list.map((each) => each.volume?.uniqueName ?? each.volume?.name))
  return names.size < 2 || volume === undefined ? '' : `volume ${nameOf(volume)}: `
}

function titleOf({ kind, volume }: Pick<Operation, 'kind' | 'volume'>): string {
  return volume === undefined ? kind : `${kind} of volume ${nameOf(volume)}`
}

function nameOf({ podVolumeName, name }: VolumeRef): string {
  return podVolumeName ?? name
}

/** What is to be done about it all the same. */
function withRest({ runnable, stuck, notAsked, waiting }: Sorted): string {
  const rest = also({ runnable, blocked: [...stuck, ...notAsked], waiting })
  return rest === '' ? '' : `; operations:${rest.slice(1)}`
}

/** What there is beside that which the verdict is about. */
function also({
  runnable = [],
  blocked = [],
  waiting = [],
}: Partial<Record<'runnable' | 'blocked', readonly Operation[]>> & {
  readonly waiting?: readonly Waiting[]
}): string {
  const codes = (list: readonly { readonly code: string }[]): string =>
    [...new Set(list.map(({ code }) => code))].join(', ')
  return [
    ...(runnable.length === 0 ? [] : [`${runnable.length} ready to run`]),
    ...(blocked.length === 0
      ? []
      : [`${blocked.length} blocked (${codes(blocked.flatMap((each) => each.blocked ?? []))})`]),
    ...(waiting.length === 0 ? [] : [`${waiting.length} waiting (${codes(waiting)})`]),
  ]
    .map((text) => `, ${text}`)
    .join('')
}

function kindsOf(operations: readonly Operation[]): string {
  return [...Map.groupBy(operations, ({ kind }) => kind)]
    .map(([kind, own]) => (own.length === 1 ? kind : `${own.length} ${kind}`))
    .join(', ')
}
