/**
 * What an answer takes from a plan of either scope in the same way; most of all what needs a person: causes, alike ones as one, each with
 * what hangs on it and what lifts it.
 */

import { alike, count, present } from '../../base/text.ts'
import { type Code, saidOfMany } from '../../messages/codes.ts'
import { advice, type Hint } from '../../messages/command.ts'
import type { Cause } from '../../plan/cause.ts'
import type { AnyOperation, AnyPlan, AnyWaiting } from '../../plan/cluster-plan.ts'
import { TAKING_AWAY } from '../../plan/kinds.ts'
import { type PodText, shownSubject } from '../../plan/names.ts'
import { usersText } from '../../plan/next-steps.ts'
import type { LiftingFlag, Operation, Severity } from '../../plan/plan.ts'
import { liftingFlag, readyAmong } from '../../plan/plan-summary.ts'
import type { PodRef } from '../../volumes/finding.ts'
import { type Answer, few, type Need } from './answer.ts'

/** How a scope says what hangs on a cause. */
interface Ground {
  readonly podText: PodText
  /** A message as its screen has it. */
  said(text: string): string
  /** Is it a kubelet that would unmount before it stops a pod? */
  readonly isStopped?: boolean
}

/** With causes that need a person, and whether a wait ends without one. */
export function inBothScopes(plan: AnyPlan, ground: Ground) {
  const causes = (plan.summary.causes ?? []).filter(({ code }) => !isKept(code))
  const pressing = causes.filter(({ severity }) => severity !== 'info')
  const passing = new Set(causes.flatMap(({ severity, key }) => (severity === 'info' ? key : [])))
  const same = alike(pressing, (cause) => `${cause.code} ${cause.severity} ${commonTo(cause)}`)
  const own = same.map((each) => needOf(each, plan, ground))
  const needs = withRefusal(plan, own, ground)
  const notes = plan.problems.filter(({ severity, code }) => severity === 'info' && !isKept(code))
  const said = new Set(needs.map(({ text }) => text))
  return {
    pressing,
    passes: ({ cause = '' }: Pick<AnyWaiting, 'cause'>) => passing.has(cause),
    answer: {
      incomplete: !plan.complete,
      needs,
      notes: [...new Set(notes.map(({ message }) => ground.said(message))).difference(said)],
      counts: countsText(plan),
    } satisfies Partial<Answer>,
  }
}

/** Whether a screen says it under what stays, and not under what needs a person. */
function isKept(code: Code): boolean {
  return code === 'DeletesData' || code === 'OrphanPodDir' || code === 'NotAsked'
}

/** What refuses a plan as a whole needs a person first; a cause that says the same says what hangs on it. */
function withRefusal({ refused }: AnyPlan, needs: readonly Need[], { said }: Ground): readonly Need[] {
  if (refused === undefined) return needs
  const text = said(refused.message)
  const same = needs.find((each) => each.text === text)
  // That of a cause has the flags in force.
  const { remedy = [], blocks = [] } = { ...same }
  const ways = remedy.length > 0 ? remedy : [refused.hint ?? []].flat()
  return [{ severity: 'error', text, blocks, remedy: ways }, ...needs.filter((each) => each !== same)]
}

/**
 * What causes of one code have in common that are said as one: their users, and what is done about all of them; where the code has no
 * sentence for several, their own.
 */
function commonTo({ code, users = [], message, remedy: [way = '', command] }: Cause): string {
  const common = usersText(users)
  if (saidOfMany(code, 2, common) === undefined) return message
  return command === undefined ? common : `${common} ${way}`
}

function needOf(same: readonly [Cause, ...Cause[]], plan: AnyPlan, ground: Ground): Need {
  const [first] = same
  const { severity, code, message, users = [] } = first
  const called = same.map(
    ({ subject, affects }) => shownSubject(subject, ground.podText) ?? affects.volumes[0] ?? 'all of it',
  )
  const subjects = [...new Set(called)]
  const isOne = subjects.length === 1
  const many = isOne ? undefined : saidOfMany(code, subjects.length, usersText(users))
  const { pods, held } = wakeOf(same, plan, ground)
  const areHeld = held.length === subjects.length && held.every((each) => subjects.includes(each))
  const { volume, path, claim, attachment, nodes } = first.subject
  const own = volume ?? path ?? claim ?? attachment ?? nodes?.join(', ')
  // Where the sentence says what it is about.
  const names = isOne && (own === undefined || message.includes(own)) ? undefined : few(subjects)
  return {
    severity,
    text: ground.said(many ?? message),
    names: names && areHeld ? `${KEPT}${names}` : names,
    blocks: present(...pods, held.length > 0 && !areHeld && `${KEPT}${few(held)}`),
    remedy: present(...waysOf(same), code === 'PodGoneButRunning' && ground.isStopped && KUBELET_STOPS_IT),
  }
}

/** Of more ways out than this the first few are said. */
const WAYS_AT_MOST = 3

/** Of several that differ in their commands alone the first. */
function waysOf(same: readonly Cause[]): Hint[] {
  const ways = new Map<string, Hint>()
  for (const { remedy } of same) {
    const [says, command] = remedy
    if (says === undefined || ways.has(`${says}`)) continue
    ways.set(`${says}`, command === undefined ? says : advice`${says} ${command}`)
  }
  return [...ways.values()].slice(0, WAYS_AT_MOST)
}

const KUBELET_STOPS_IT = 'a kubelet that starts unmounts the volumes before it stops the pod'

/** `3 deleted pods keep volumes: … (9 operations)`; `9 pods wait: …`; and volumes that no pod has. */
function wakeOf(same: readonly [Cause, ...Cause[]], plan: AnyPlan, { podText }: Ground) {
  const ids = new Set(same.flatMap(({ affects }) => affects.operations))
  const operations = ids.size === 0 ? [] : plan.operations.filter(({ id }: AnyOperation) => ids.has(id))
  const keys = new Set(same.map(({ key }) => key))
  const isDown = ({ kind }: Pick<Operation, 'kind'>): boolean => TAKING_AWAY.has(kind)
  const down: readonly AnyOperation[] = operations.filter(isDown)
  const waits = plan.waiting.filter((each: AnyWaiting) => keys.has(each.cause ?? ''))
  const namesOf = (works: readonly Parameters<typeof podsOf>[0][]): string[] => [
    ...new Set(works.flatMap((each) => podsOf(each).map(podText))),
  ]
  const keeping = namesOf(down)
  const waiting = namesOf([...operations, ...waits].filter((each) => !isDown(each)))
  // Than the pod that the cause is about.
  const { pod } = same[0].subject
  const isMore = (pods: readonly string[]): boolean => pods.some((each) => pod === undefined || each !== podText(pod))
  const [keep, wait] = [keeping.length === 1 ? 'keeps' : 'keep', waiting.length === 1 ? 'waits' : 'wait']
  // An ended pod may be in the API still.
  const areGone = down.every((each) => podsOf(each).length === 0 || each.reason === 'PodGone')
  const kept = `${count(keeping.length, areGone ? 'deleted pod' : 'pod')} ${keep} volumes`
  return {
    pods: present(
      isMore(keeping) && `${kept}: ${few(keeping)} (${count(down.length, 'operation')})`,
      isMore(waiting) && `${count(waiting.length, 'pod')} ${wait}: ${few(waiting)}`,
    ),
    held: keeping.length === 0 ? [...new Set(same.flatMap(({ affects }) => affects.volumes))] : [],
  }
}

const KEPT = 'stays as it is: '

function podsOf(work: AnyOperation | AnyWaiting): readonly PodRef[] {
  return 'pods' in work ? work.pods : [work.pod ?? []].flat()
}

// The counts, in one line, that add up.

/** `44 operations: 34 ready, 9 wait for loop.pg.test, 1 needs --orphans`. */
export function countsText(plan: AnyPlan): string {
  const { scope, operations, refused, waiting, complete, summary } = plan
  const has = (severity: Severity): boolean => plan.problems.some((each) => each.severity === severity)
  const filtered = summary.filtered > 0 ? [`${summary.filtered} left out by flags`] : []
  const total = count(operations.length, 'operation')
  if (refused !== undefined) return `Refused: nothing is done${operations.length === 0 ? '' : `; ${total} blocked`}`
  if (operations.length > 0) return [`${total}: ${partsOf(plan).join(', ')}`, ...filtered].join('; ')
  if (has('error')) return `${['Nothing is ready: see above', ...filtered].join('; ')}.`
  if (waiting.length > 0) return `${[`Nothing to do yet: ${waiting.length} waiting`, ...filtered].join('; ')}.`
  if (filtered.length > 0) return `Nothing to do under these flags: ${filtered.join('')}.`
  if (!complete) return 'Nothing to do: no operation is needed, as far as volctl could read.'
  return has('warning')
    ? 'No operation is needed: see above.'
    : `Nothing to do: every volume ${scope === 'cluster' ? 'in this cluster' : 'on this node'} is as it should be.`
}

function partsOf({ operations, summary }: AnyPlan): string[] {
  const ready = readyAmong(operations)
  const causes = new Map(summary.causes?.map((cause) => [cause.key, cause]))
  const waiting = operations.flatMap((each: AnyOperation) => (ready.has(each.id) ? [] : [whyNot(each, causes)]))
  const why = alike(waiting, (each) => each.join(' ')).toSorted((a, b) => b.length - a.length)
  return present(
    ready.size > 0 && `${ready.size} ready`,
    ...why.map(([[does, what], ...more]) =>
      more.length === 0 ? `1 ${does}s ${what}` : `${more.length + 1} ${does} ${what}`,
    ),
  )
}

/** Several wait for a driver, or need a flag. */
function whyNot(operation: AnyOperation, causes: ReadonlyMap<string, Cause>): readonly ['wait' | 'need', string] {
  const flag = liftingFlag(operation)
  const cause = causes.get(operation.blocked?.cause ?? '')
  if (flag !== undefined) return ['need', flag]
  if (cause === undefined) return ['wait', 'for another']
  if (cause.kind === 'data') return ['need', '--orphans' satisfies LiftingFlag]
  return cause.subject.driver === undefined ? ['need', 'you first'] : ['wait', `for ${cause.subject.driver}`]
}

/** Is there an error or a wait, though maybe no operation is left? */
export function isOpen(plan: AnyPlan): boolean {
  const { refused, waiting, problems } = plan
  return refused !== undefined || waiting.length > 0 || problems.some(({ severity }) => severity === 'error')
}
