/** What needs a person: causes, alike ones as one, each with what hangs on it and what lifts it. */
import { saidOfMany } from '../codes/codes.ts'
import { count } from '../lang/count.ts'
import { defined } from '../lang/defined.ts'
import type { Cause } from '../plan/cause.ts'
import { TAKING_AWAY } from '../plan/kinds.ts'
import { usersText } from '../plan/next-steps.ts'
import type { Operation, Plan, PodRef } from '../plan/plan.ts'
import { type PlanNames, shownSubject } from '../plan/plan-names.ts'
import type { Need } from './answer.ts'
import { few, withoutRoot } from './names.ts'

/** What a cause depends on and what its sentence is made from, in either scope. */
export interface Ground {
  readonly rootDir: string
  readonly operations: readonly {
    readonly id: string
    readonly kind: Operation['kind']
    readonly reason: Operation['reason']
    readonly pods: readonly PodRef[]
  }[]
  readonly waiting: readonly {
    readonly cause?: string
    readonly kind: Operation['kind']
    readonly pods: readonly PodRef[]
  }[]
  podText(pod: PodRef): string
  /** Is it a kubelet that would unmount before it stops a pod? */
  readonly isStopped?: boolean
}

/** A node's plan as the ground of its causes. */
export function nodeGround(plan: Plan, names: PlanNames): Ground {
  const podsOf = ({ pod }: { readonly pod?: PodRef }): readonly PodRef[] => (pod === undefined ? [] : [pod])
  return {
    rootDir: plan.rootDir,
    operations: plan.operations.map((each) => ({ ...each, pods: podsOf(each) })),
    waiting: plan.waiting.map((each) => ({ ...each, pods: podsOf(each) })),
    podText: (pod) => names.podText(pod),
    isStopped: plan.inputs.kubelet.state === 'stopped',
  }
}

/** What refuses a plan as a whole needs a person first; a cause that says the same says what hangs on it. */
export function withRefusal({ refused }: Pick<Plan, 'refused'>, needs: readonly Need[]): Need[] {
  if (refused === undefined) return [...needs]
  const { message, hint } = refused
  const same = needs.find(({ text }) => text === message)
  const remedy = hint === undefined ? [] : [hint]
  return [
    { severity: 'error', text: message, wake: same?.wake ?? [], remedy },
    ...needs.filter((each) => each !== same),
  ]
}

/** @param causes those that are shown, the worst first */
export function needsOf(causes: readonly Cause[], ground: Ground): Need[] {
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
  const wake = wakeOf(same, ground)
  const name = isOne && !isNameless(first) ? undefined : few(subjects)
  const names = wake.find((each) => each === `${KEPT}${name}`) ?? name
  return {
    severity,
    text: withoutRoot(many ?? message, ground.rootDir),
    ...defined({ names }),
    wake: wake.filter((each) => each !== names),
    remedy: [...waysOf(same), ...(code === 'PodGoneButRunning' && ground.isStopped ? [KUBELET_STOPS_IT] : [])],
  }
}

/** Of more ways out than this the first few are said. */
const WAYS_AT_MOST = 3

/** Of several that differ in their commands alone the first. */
function waysOf(same: readonly Cause[]): string[] {
  const ways = new Map<string, string>()
  for (const { remedy } of same) {
    const [says] = remedy
    if (says !== undefined && !ways.has(says)) ways.set(says, remedy.join(' '))
  }
  return [...ways.values()].slice(0, WAYS_AT_MOST)
}

function nameOf({ subject, affects }: Cause, { podText }: Pick<Ground, 'podText'>): string {
  return shownSubject(subject, podText) ?? affects.volumes[0] ?? 'all of it'
}

/** Does the sentence leave out what it is about? */
function isNameless({ subject: { volume, path, claim, attachment, nodes }, message }: Cause): boolean {
  const own = volume ?? path ?? claim ?? attachment ?? nodes?.join(', ')
  return own !== undefined && !message.includes(own)
}

const KUBELET_STOPS_IT = 'a kubelet that starts unmounts the volumes before it stops the pod'

/** `3 deleted pods keep volumes: … (9 operations)`; `9 pods wait: …`. What the sentence says already is not said again. */
function wakeOf(same: readonly Cause[], ground: Ground): string[] {
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
  const held = [...new Set(same.flatMap(({ affects }) => affects.volumes))]
  return [
    ...(keeping.length > 0 && !isOnly(keeping, own)
      ? [
          `${count(keeping.length, `${endOf(down)}pod`)} ${keeping.length === 1 ? 'keeps' : 'keep'} volumes: ${few(keeping)} (${count(down.length, 'operation')})`,
        ]
      : []),
    ...(waiting.length > 0 && !isOnly(waiting, own)
      ? [`${count(waiting.length, 'pod')} ${waiting.length === 1 ? 'waits' : 'wait'}: ${few(waiting)}`]
      : []),
    ...(keeping.length === 0 && held.length > 0 && !(same.length === 1 && first?.message.includes(held[0] ?? ''))
      ? [`${KEPT}${few(held)}`]
      : []),
  ]
}

/** An ended pod may be in the API still. */
function endOf(operations: Ground['operations']): string {
  return operations.every(({ pods, reason }) => pods.length === 0 || reason === 'PodGone') ? 'deleted ' : ''
}

const KEPT = 'stays as it is: '

function isOnly(pods: readonly string[], own: string | undefined): boolean {
  return pods.length === 1 && pods[0] === own
}

function podNames(of: readonly { readonly pods: readonly PodRef[] }[], { podText }: Ground): string[] {
  return [...new Set(of.flatMap(({ pods }) => pods.map(podText)))]
}
