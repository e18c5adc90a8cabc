/** What needs a person: causes, alike ones as one, each with what hangs on it and what lifts it. */
import { count } from '../lang/count.ts'
import { defined } from '../lang/defined.ts'
import type { Cause } from '../plan/cause.ts'
import { TAKING_AWAY } from '../plan/kinds.ts'
import { usersText } from '../plan/next-steps.ts'
import type { Operation, Plan, PodRef } from '../plan/plan.ts'
import type { PlanNames } from '../plan/plan-names.ts'
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
  /** What lifts it, by who can act now. */
  remedyOf(cause: Cause): readonly string[]
}

/** A node's plan as the ground of its causes. */
export function nodeGround(plan: Plan, names: PlanNames): Ground {
  const podsOf = ({ pod }: { readonly pod?: PodRef }): readonly PodRef[] => (pod === undefined ? [] : [pod])
  return {
    rootDir: plan.rootDir,
    operations: plan.operations.map((each) => ({ ...each, pods: podsOf(each) })),
    waiting: plan.waiting.map((each) => ({ ...each, pods: podsOf(each) })),
    podText: (pod) => names.podText(pod),
    remedyOf: (cause) => remedyOf(cause, plan),
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
  const alike = Map.groupBy(causes, (cause) => {
    const { kind, code, severity, remedy } = cause
    const fact = factOf(cause)
    if (fact !== undefined) return `${fact} ${severity} ${remedy.join().replaceAll(cause.subject.driver ?? '', '…')}`
    return FOLDED[code] === undefined ? `${code} ${shapeOf(cause)}` : `${kind} ${code} ${severity} ${openingOf(cause)}`
  })
  return [...alike.values()].flatMap((same) => needOf(same, ground) ?? [])
}

function needOf(same: readonly Cause[], ground: Ground): Need | undefined {
  const [first] = same
  if (first === undefined) return undefined
  const { severity, code, message } = first
  const subjects = [...new Set(same.map((each) => subjectText(each, ground)))]
  const fold = same.length > 1 ? (FOLDED[code] ?? foldOfDrivers(factOf(first))) : undefined
  const text = fold === undefined ? message : fold(subjects.length, same)
  const said = withoutRoot(text, ground.rootDir)
  const wake = wakeOf(same, ground)
  const name = namesOf(subjects, first, fold !== undefined)
  const names = wake.find((each) => each === `${KEPT}${name}`) ?? name
  return {
    severity,
    text: said,
    ...defined({ names }),
    wake: wake.filter((each) => each !== names),
    remedy: remediesOf(same, ground),
  }
}

/** Of more ways out than this the first few are said. */
const WAYS_AT_MOST = 3

/** Of several each way out that differs in more than the name of its subject, which stands above. */
function remediesOf(same: readonly Cause[], ground: Ground): string[] {
  const ways = same.map((cause) => {
    const { volume, pod, driver } = cause.subject
    const remedy = ground.remedyOf(cause)
    const name = pod?.uid ?? volume ?? driver ?? ''
    return [name === '' ? remedy.join() : remedy.join().replaceAll(name, '…'), remedy] as const
  })
  return [...new Set([...new Map(ways.toReversed()).values()].toReversed().flat())].slice(0, WAYS_AT_MOST)
}

const KUBELET_STOPS_IT = 'a kubelet that starts unmounts the volumes before it stops the pod'

/** What a remedy begins with: of several causes the first one's is shown, and must hold for all. */
function openingOf({ code, message, users, subject: { volume = '' }, remedy: [first = ''] }: Cause): string {
  // A person ends a process, and with it what it has of every volume; who is not known by process is told by each sentence.
  if (code === 'HeldBy') return users?.map(({ pid }) => pid).join() ?? message
  const [opening = ''] = first.split(/[.:;,(]/)
  return opening.replace(volume, '…').replace(/\S*[/^\d]\S*/g, '…')
}

/** What is wrong with a driver, without which and where: "is not registered on this node". */
function factOf({ subject: { driver }, message }: Cause): string | undefined {
  const own = `CSI driver ${driver} `
  return message.startsWith(own) ? /^.*?(?=[;:,]| on \S*\/|$)/.exec(message.slice(own.length))?.[0] : undefined
}

function foldOfDrivers(fact: string | undefined): ((n: number) => string) | undefined {
  const plural = fact?.replace(/^does /, 'do ').replace(/^is /, 'are ')
  return plural === undefined ? undefined : (n) => `${n} CSI drivers ${plural}`
}

/** The same for sentences that differ only in names, paths and numbers. */
function shapeOf({ message, subject: { object } }: Cause): string {
  return (object === undefined ? message : message.replace(object, '…')).replace(/\S*[/^\d]\S*/g, '…')
}

/** @param folded whether the sentence leaves the names to this */
function namesOf(subjects: readonly string[], { subject, message }: Cause, folded: boolean): string | undefined {
  if (folded) return few(subjects)
  if (subjects.length > 1) return `likewise ${few(subjects.slice(1))}`
  const own = subject.volume ?? subject.path ?? subject.object?.replace(/ on node .*$/, '').replace(/^\w+ /, '')
  return own === undefined || message.includes(own) ? undefined : subjects[0]
}

function remedyOf(cause: Cause, { inputs: { kubelet } }: Plan): string[] {
  const first = cause.remedy.slice(0, 1)
  return cause.code === 'PodGoneButRunning' && kubelet.state === 'stopped' ? [...first, KUBELET_STOPS_IT] : first
}

/** Sentences for several causes that differ only in what they are about. */
const FOLDED: Readonly<Partial<Record<Cause['code'], (n: number, same: readonly Cause[]) => string>>> = {
  PodGoneButRunning: (n) => `${n} pods were deleted from the API and still run; their volumes are in use`,
  AlivenessUnknown: (n) => `${n} pods may still run; their volumes count as in use`,
  MountedButNotAttached: (n) => `${n} mounted volumes count as detached: another node may write to them`,
  OrphanDirKept: (n) => `The directories of ${n} deleted pods are kept: files that the kubelet did not make lie there`,
  MayBeStatic: (n) => `The directories of ${n} pods belong to static pods, or may, and stay`,
  HeldBy: (n, [first]) => `${n} volumes are in use by ${usersText(first?.users ?? [])}`,
  ForeignMount: (n) => `Mounts that the kubelet did not make are in the way of ${n} volumes`,
  UnexpectedFile: (n) => `Files that the kubelet did not make are in the way of ${n} volumes`,
  IdentityUnconfirmed: (n) => `Nothing proves which volume is mounted at ${n} places`,
  TwoWriters: (n) => `${n} volumes are in use or attached at several places, against their access mode`,
  MultiAttach: (n) => `${n} volumes may be on one node only, and several nodes have or want each`,
  ReportedUnused: (n) => `${n} volumes are still listed in the Node's status, and nothing of them is here`,
  DeadMount: (n) => `${n} mounts do not answer: their server or daemon is gone`,
}

function subjectText({ subject, affects }: Cause, names: Pick<Ground, 'podText'>): string {
  const { driver, pod, volume, object, path } = subject
  if (volume !== undefined) return pod === undefined ? volume : `${names.podText(pod)} ${volume}`
  if (pod !== undefined) return names.podText(pod)
  return driver ?? object ?? path ?? affects.volumes[0] ?? 'all of it'
}

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
