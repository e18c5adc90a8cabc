/**
 * What an answer takes from a plan of either scope in the same way; most of all what needs a person: causes, alike ones as one, each with
 * what hangs on it and what lifts it.
 */
import { count } from '../../base/count.ts'
import { omitUndefined } from '../../base/omit-undefined.ts'
import { type Code, saidOfMany } from '../../messages/codes.ts'
import type { Cause } from '../../plan/cause.ts'
import type { ClusterPlan } from '../../plan/cluster-plan.ts'
import { type CommandContext, typed } from '../../plan/commands.ts'
import { TAKING_AWAY } from '../../plan/kinds.ts'
import { usersText } from '../../plan/next-steps.ts'
import type { LiftingFlag, Operation, OperationKind, Plan, PodRef, Problem } from '../../plan/plan.ts'
import { shownSubject } from '../../plan/plan-names.ts'
import { liftingFlag, readyAmong } from '../../plan/plan-summary.ts'
import { type Answer, few, type Need } from './answer.ts'

/** An operation or a wait of either scope. */
interface Work {
  readonly kind: OperationKind
  readonly pod?: PodRef
  readonly pods?: readonly PodRef[]
}

/** What hangs on a cause, and how a scope says it. */
interface Ground {
  readonly operations: readonly (Work & Pick<Operation, 'id' | 'reason'>)[]
  readonly waiting: readonly (Work & { readonly cause?: string })[]
  podText(pod: PodRef): string
  /** A message as its screen has it. */
  said(text: string): string
  /** Of the commands that lift a cause. */
  readonly context?: CommandContext | undefined
  /** Is it a kubelet that would unmount before it stops a pod? */
  readonly isStopped?: boolean
}

interface InBoth {
  readonly answer: Pick<Answer, 'incomplete' | 'needs' | 'notes' | 'counts'>
  readonly pressing: readonly Cause[]
  /** Whether a wait ends without a person. */
  passes(wait: { readonly cause?: string }): boolean
}

export function inBothScopes(plan: Plan | ClusterPlan, ground: Ground): InBoth {
  const causes = (plan.summary.causes ?? []).filter(({ code }) => !isKept(code))
  const pressing = causes.filter(({ severity }) => severity !== 'info')
  const passing = new Set(causes.flatMap(({ severity, key }) => (severity === 'info' ? key : [])))
  const needs = withRefusal(plan, needsOf(pressing, ground), ground)
  const notes = plan.problems.filter(({ severity, code }) => severity === 'info' && !isKept(code))
  const said = new Set(needs.map(({ text }) => text))
  return {
    pressing,
    passes: ({ cause = '' }) => passing.has(cause),
    answer: {
      incomplete: !plan.complete,
      needs,
      notes: [...new Set(notes.map(({ message }) => ground.said(message))).difference(said)],
      counts: countsText(plan),
    },
  }
}

/** Whether a screen says it under what stays, and not under what needs a person. */
function isKept(code: Code): boolean {
  return code === 'DeletesData' || code === 'OrphanPodDir' || code === 'NotAsked'
}

/** What refuses a plan as a whole needs a person first; a cause that says the same says what hangs on it. */
function withRefusal(
  { refused }: Pick<Plan, 'refused'>,
  needs: readonly Need[],
  { said, context }: Ground,
): readonly Need[] {
  if (refused === undefined) return needs
  const text = said(refused.message)
  const same = needs.find((each) => each.text === text)
  // That of a cause has the flags in force.
  const remedy = (context && same?.remedy) ?? [refused.hint ?? []].flat()
  return [{ severity: 'error', text, wake: same?.wake ?? [], remedy }, ...needs.filter((each) => each !== same)]
}

/** @param causes those that are shown, the worst first */
function needsOf(causes: readonly Cause[], ground: Ground): Need[] {
  const alike = Map.groupBy(causes, (cause) => `${cause.code} ${cause.severity} ${commonTo(cause)}`)
  return [...alike.values()].flatMap((same) => needOf(same, ground) ?? [])
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

function needOf(same: readonly Cause[], ground: Ground): Need | undefined {
  const [first] = same
  if (first === undefined) return undefined
  const { severity, code, message, users = [] } = first
  const subjects = [...new Set(same.map((each) => nameOf(each, ground)))]
  const isOne = subjects.length === 1
  const many = isOne ? undefined : saidOfMany(code, subjects.length, usersText(users))
  const { pods, held } = wakeOf(same, ground)
  const areHeld = held.length === subjects.length && held.every((each) => subjects.includes(each))
  const names = isOne && isNamed(first) ? undefined : few(subjects)
  return {
    severity,
    text: ground.said(many ?? message),
    ...omitUndefined({ names: names && areHeld ? `${KEPT}${names}` : names }),
    wake: held.length === 0 || areHeld ? pods : [...pods, `${KEPT}${few(held)}`],
    remedy: [...waysOf(same, ground), ...(code === 'PodGoneButRunning' && ground.isStopped ? [KUBELET_STOPS_IT] : [])],
  }
}

/** Of more ways out than this the first few are said. */
const WAYS_AT_MOST = 3

/** Of several that differ in their commands alone the first. */
function waysOf(same: readonly Cause[], { context = { applyFlags: [] } }: Ground): string[] {
  const ways = new Map<string, string>()
  for (const { remedy, command } of same) {
    const [says, text] = remedy
    if (says === undefined || ways.has(says)) continue
    const line = command === undefined ? text : typed({ ...command, flags: 'read', why: '' }, context).command
    ways.set(says, line === undefined ? says : `${says} ${line}`)
  }
  return [...ways.values()].slice(0, WAYS_AT_MOST)
}

function nameOf({ subject, affects }: Cause, { podText }: Pick<Ground, 'podText'>): string {
  return shownSubject(subject, podText) ?? affects.volumes[0] ?? 'all of it'
}

/** Does the sentence say what it is about? */
function isNamed({ subject: { volume, path, claim, attachment, nodes }, message }: Cause): boolean {
  const own = volume ?? path ?? claim ?? attachment ?? nodes?.join(', ')
  return own === undefined || message.includes(own)
}

const KUBELET_STOPS_IT = 'a kubelet that starts unmounts the volumes before it stops the pod'

/** `3 deleted pods keep volumes: … (9 operations)`; `9 pods wait: …`; and volumes that no pod has. */
function wakeOf(same: readonly Cause[], ground: Ground): { readonly pods: string[]; readonly held: readonly string[] } {
  const [first] = same
  const ids = new Set(same.flatMap(({ affects }) => affects.operations))
  const operations = ids.size === 0 ? [] : ground.operations.filter(({ id }) => ids.has(id))
  const keys = new Set(same.map(({ key }) => key))
  const down = operations.filter(({ kind }) => TAKING_AWAY.has(kind))
  const up = [
    ...operations.filter(({ kind }) => !TAKING_AWAY.has(kind)),
    ...ground.waiting.filter(({ cause, kind }) => keys.has(cause ?? '') && !TAKING_AWAY.has(kind)),
  ]
  const own = first?.subject.pod === undefined ? undefined : ground.podText(first.subject.pod)
  const keeping = podNames(down, ground)
  const waiting = podNames(up, ground)
  const keep = `${count(keeping.length, `${endOf(down)}pod`)} ${keeping.length === 1 ? 'keeps' : 'keep'}`
  return {
    pods: [
      ...(isMore(keeping, own) ? [`${keep} volumes: ${few(keeping)} (${count(down.length, 'operation')})`] : []),
      ...(isMore(waiting, own)
        ? [`${count(waiting.length, 'pod')} ${waiting.length === 1 ? 'waits' : 'wait'}: ${few(waiting)}`]
        : []),
    ],
    held: keeping.length === 0 ? [...new Set(same.flatMap(({ affects }) => affects.volumes))] : [],
  }
}

/** An ended pod may be in the API still. */
function endOf(operations: Ground['operations']): string {
  return operations.every((each) => podsOf(each).length === 0 || each.reason === 'PodGone') ? 'deleted ' : ''
}

const KEPT = 'stays as it is: '

/** Than the pod that the cause is about. */
function isMore(pods: readonly string[], own: string | undefined): boolean {
  return pods.some((each) => each !== own)
}

function podNames(of: readonly Work[], { podText }: Ground): string[] {
  return [...new Set(of.flatMap((each) => podsOf(each).map(podText)))]
}

function podsOf({ pod, pods = pod === undefined ? [] : [pod] }: Work): readonly PodRef[] {
  return pods
}

// The counts, in one line, that add up.

/** A plan of either scope, as far as it is counted. */
type Counted = Pick<Plan | ClusterPlan, 'scope' | 'operations' | 'refused' | 'waiting' | 'complete'> & {
  readonly problems: readonly Pick<Problem, 'severity'>[]
  readonly summary: Pick<Plan['summary'], 'filtered' | 'causes'>
}

/** `44 operations: 34 ready, 9 wait for loop.pg.test, 1 needs --orphans`. */
export function countsText(plan: Counted): string {
  const { scope, operations, refused, waiting, problems, complete, summary } = plan
  const filtered = summary.filtered > 0 ? [`${summary.filtered} left out by flags`] : []
  const total = count(operations.length, 'operation')
  if (refused !== undefined) return `Refused: nothing is done${operations.length === 0 ? '' : `; ${total} blocked`}`
  if (operations.length > 0) return [`${total}: ${partsOf(plan).join(', ')}`, ...filtered].join('; ')
  if (problems.some(({ severity }) => severity === 'error'))
    return `${['Nothing is ready: see above', ...filtered].join('; ')}.`
  if (waiting.length > 0) return `${[`Nothing to do yet: ${waiting.length} waiting`, ...filtered].join('; ')}.`
  if (filtered.length > 0) return `Nothing to do under these flags: ${filtered.join('')}.`
  if (!complete) return 'Nothing to do: no operation is needed, as far as volctl could read.'
  return problems.some(({ severity }) => severity === 'warning')
    ? 'No operation is needed: see above.'
    : `Nothing to do: every volume ${scope === 'cluster' ? 'in this cluster' : 'on this node'} is as it should be.`
}

type CountedOperation = Counted['operations'][number]

function partsOf({ operations, summary }: Counted): string[] {
  const ready = readyAmong<CountedOperation>(operations)
  const causes = new Map(summary.causes?.map((cause) => [cause.key, cause]))
  const waiting = operations.flatMap((each) => (ready.has(each.id) ? [] : [whyNot(each, causes)]))
  const why = [...Map.groupBy(waiting, (each) => each.join(' ')).values()].toSorted((a, b) => b.length - a.length)
  return [
    ...(ready.size > 0 ? [`${ready.size} ready`] : []),
    ...why.map(([[does, what] = ['need', ''], ...more]) =>
      more.length === 0 ? `1 ${does}s ${what}` : `${more.length + 1} ${does} ${what}`,
    ),
  ]
}

const ORPHANS: LiftingFlag = '--orphans'

/** Several wait for a driver, or need a flag. */
function whyNot(operation: CountedOperation, causes: ReadonlyMap<string, Cause>): readonly ['wait' | 'need', string] {
  const flag = liftingFlag(operation)
  const cause = causes.get(operation.blocked?.cause ?? '')
  if (flag !== undefined) return ['need', flag]
  if (cause === undefined) return ['wait', 'for another']
  if (cause.kind === 'data') return ['need', ORPHANS]
  return cause.subject.driver === undefined ? ['need', 'you first'] : ['wait', `for ${cause.subject.driver}`]
}

/** Is there an error or a wait, though maybe no operation is left? */
export function isOpen({ refused, problems, waiting }: Pick<Counted, 'refused' | 'problems' | 'waiting'>): boolean {
  return refused !== undefined || waiting.length > 0 || problems.some(({ severity }) => severity === 'error')
}
