/** What to type next on this node. The first command is the next step; the others belong to it. */

import { count, formatDuration, take } from '../base/text.ts'
import type { Word } from '../messages/command.ts'
import { podName } from '../volumes/pods.ts'
import type { Cause } from './cause.ts'
import { type CommandContext, type Step, stopPod, typed, withFlags } from './commands.ts'
import type { Operation, Plan, Refusal, Waiting } from './plan.ts'
import { isForgotten, liftingFlag, readyText, settledAt } from './plan-summary.ts'

export interface AdviceContext extends CommandContext {
  readonly settleMs: number
  /** What the last apply did not do (the journal has it): it is not advised again without a word. */
  readonly failed?: readonly (Pick<Operation, 'kind' | 'pod'> & {
    readonly volume?: string
    readonly message?: string
  })[]
  /** What `explain` was asked, which explains it already. */
  readonly asked?: string
}

/** The plan with the next steps for a person. */
export function withAdvice<T extends Plan>(plan: T, given: AdviceContext): T {
  const steps = nextSteps(plan, given).filter(({ argv }) => plan.refused !== undefined || !isAskedAgain(argv, given))
  const next = steps.map((step) => typed(step, given, plan.node))
  // Of a snapshot they are typed on the node.
  const summary = given.snapshot === undefined ? withFlags(plan.summary, given) : plan.summary
  return { ...plan, summary: { ...summary, ...(next.length > 0 && { next }) } }
}

/** What the driver of a thing is, is another question than the thing. */
function isAskedAgain([, verb, what]: readonly Word[], { asked }: AdviceContext): boolean {
  if (asked === undefined || verb !== 'explain' || typeof what !== 'string') return false
  return !what.startsWith('driver/') || what === asked || what === `driver/${asked}`
}

function nextSteps(plan: Plan, given: AdviceContext): readonly Step[] {
  if (plan.refused !== undefined) return [refusedStep(plan.refused)]
  const drivers = driverSteps(plan)
  if (drivers.length > 0) return drivers
  const steps = [...applySteps(plan, given), ...podSteps(plan), ...kubeletSteps(plan, given)]
  if (steps.length > 0) return steps
  return settleStep(plan) ?? restStep(plan) ?? lookStep(plan) ?? startStep(plan) ?? []
}

/** The only step about a plan of either scope that is refused. */
export function refusedStep({ code }: Pick<Refusal, 'code'>): Step {
  return { argv: ['volctl', 'explain', code], flags: 'none', why: 'says why nothing is done, and what would lift it' }
}

/** How the last apply ended with one of these. */
function lastTime(of: readonly (Operation | Waiting)[], { failed = [] }: AdviceContext): string {
  const same = failed.find(({ kind, volume, pod }) =>
    of.some((each) => each.kind === kind && each.volume?.name === volume && each.pod?.uid === pod?.uid),
  )
  return same === undefined ? '' : `; in the last apply ${same.kind} failed: ${same.message ?? 'it did not end'}`
}

function applySteps({ operations, summary }: Plan, given: AdviceContext): Step[] {
  const { ready = 0, causes = [] } = summary
  if (ready > 0) {
    const free = operations.filter(({ blocked }) => blocked === undefined)
    const why = `asks, and carries out ${readyText(ready)}${lastTime(free, given)}`
    return [{ argv: ['volctl', 'apply'], why }]
  }
  const [worst] = causes.filter(({ severity }) => severity === 'error')
  // Who uses what would be taken away is known, and a person ends that.
  if (worst?.code === 'HeldBy' && worst.affects.operations.length > 0)
    return [{ first: endOf(worst.users), argv: ['volctl', 'apply'], why: 'does what waits for that' }]
  const flags = operations.flatMap((each) => liftingFlag(each) ?? [])
  return flags.slice(0, 1).map((flag) => ({ argv: ['volctl', 'plan', flag], why: `shows what ${flag} would do` }))
}

/** Only if something waits that the kubelet never does; otherwise the kubelet is left alone. */
function kubeletSteps(plan: Plan, given: AdviceContext): Step[] {
  const { unit, state, unstoppable } = plan.inputs.kubelet
  // Without its driver nothing of a volume is done, whether a kubelet runs or not.
  const causes = plan.summary.causes?.filter(({ severity }) => severity !== 'info') ?? []
  const silent = new Set(causes.flatMap(({ subject: { driver } }) => driver ?? []))
  const forgotten = plan.waiting.filter((wait) => isForgotten(wait) && !silent.has(wait.volume?.driver ?? ''))
  if (forgotten.length === 0 || unit === undefined) return []
  if (unstoppable !== undefined) {
    const { why, remedy, command } = unstoppable
    return [{ argv: command, why: `${why}, so that --stop-kubelet is refused. ${remedy}`, onNode: true }]
  }
  if (state === 'running') {
    const why = `stops ${unit} for what the kubelet never does, and starts it again${lastTime(forgotten, given)}`
    return [{ argv: ['volctl', 'apply', '--stop-kubelet'], why, onNode: true }]
  }
  return [
    { argv: ['systemctl', 'stop', unit], why: 'for what the kubelet never does; pods run on without it' },
    { argv: ['volctl', 'apply'], why: `waits for the settle time of ${formatDuration(given.settleMs)}`, onNode: true },
    { argv: ['systemctl', 'start', unit], why: 'afterwards' },
  ]
}

/** Of more processes than this the first few are named. */
const USERS_AT_MOST = 3

/** `stop sleep (pid 191)`: how a person ends a use. */
export function endOf(users: Cause['users'] = []): string {
  // Nobody ends process 1 (S37).
  return users.length === 0 || users.some(({ pid }) => pid === 1) ? 'end that use' : `stop ${usersText(users)}`
}

export function usersText(users: NonNullable<Cause['users']>): string {
  const names = users.map(({ pid, process }) => `${process} (pid ${pid})`)
  return take(names, USERS_AT_MOST, 'and ').join(', ')
}

/** Of a kubelet that stopped a moment ago: apply waits unasked (S11). An error is looked at first. */
function settleStep(plan: Plan): Step[] | undefined {
  if (plan.problems.some(({ severity }) => severity === 'error')) return undefined
  const left = (settledAt(plan) ?? Number.NaN) - Date.parse(plan.createdAt)
  if (!(left > 0)) return undefined
  const why = `waits the ${formatDuration(left)} that are left of the settle time, and asks`
  return [{ argv: ['volctl', 'apply'], why, onNode: true }]
}

/** Causes that a kubelet which starts makes no worse. */
const HARMLESS: ReadonlySet<Cause['kind']> = new Set<Cause['kind']>(['driver', 'missing', 'volume'])

/** A driver of this node comes with the kubelet: where nothing speaks against one that starts, all else can wait for it. */
function driverSteps({ inputs: { kubelet }, summary: { causes = [] } }: Plan): Step[] {
  const errors = causes.filter(({ severity }) => severity === 'error')
  const stuck = errors.find(
    ({ byStart, affects: { operations, waiting } }) => byStart && operations.length + waiting > 0,
  )
  if (stuck === undefined || kubelet.state !== 'stopped' || kubelet.unit === undefined) return []
  if (!errors.every(({ kind }) => HARMLESS.has(kind))) return []
  return [
    { argv: ['systemctl', 'start', kubelet.unit], why: 'starts the drivers; it then does most of this' },
    { argv: ['volctl', 'plan'], why: 'what it leaves' },
  ]
}

/** Of more pods than this the first one is stopped first. */
const PODS_AT_MOST = 3

/**
 * A pod that was deleted and still runs is stopped by the runtime: a kubelet that starts unmounts its volumes before (O2). So is one that
 * has ended and keeps something waiting while no kubelet runs. A runtime that does not answer stops nothing.
 */
function podSteps(plan: Plan): Step[] {
  const { causes = [] } = plan.summary
  if (plan.inputs.runtime.pods === 0 && causes.some(({ code }) => code === 'RuntimeUnknown')) return []
  const stops = causes.flatMap(({ key, code, severity, subject: { pod } }) => {
    if (severity !== 'error' || pod === undefined) return []
    const is = code === 'PodGoneButRunning' ? 'was deleted' : isEnding(plan, key) ? 'is ending' : undefined
    return is === undefined ? [] : { argv: stopPod(pod.uid), why: `stops pod ${podName(pod)}, which ${is}` }
  })
  if (stops.length === 0) return []
  return [
    ...(stops.length > PODS_AT_MOST ? stops.slice(0, 1) : stops),
    { argv: ['volctl', 'plan'], why: 'what that frees' },
  ]
}

/** Of processes that the runtime did not start, the problem says where they come from. */
function isEnding(plan: Plan, key: string): boolean {
  const isOwn = ({ code, cause, hint }: Plan['problems'][number]): boolean =>
    code === 'PodStillRunning' && cause === key && hint === undefined
  return isDown(plan) && plan.problems.some(isOwn)
}

/** What is known about the worst thing that volctl does nothing about, and that ends with no kubelet that starts. */
function lookStep(plan: Plan): Step[] | undefined {
  const { summary, createdAt } = plan
  const isStarted = unitToStart(plan) !== undefined
  const causes = summary.causes?.filter((cause) => !isStarted || !endsByStart(cause)) ?? []
  const pressing = causes.find(({ severity }) => severity !== 'info')
  if (pressing !== undefined) return [explain(pressing)]
  const passing = causes.find(({ affects: { waiting }, kind }) => waiting > 0 && kind !== 'data')
  if (passing !== undefined) return [laterStep(passing, createdAt)]
  if (causes.every(({ code }) => code !== 'OrphanPodDir')) return undefined
  const why = 'shows also the directories and the emptyDir data of deleted pods'
  return [{ argv: ['volctl', 'plan', '--orphans'], why }]
}

/** What ends at a known time is looked at again then. */
function laterStep(cause: Cause, createdAt: string): Step {
  const { until } = cause
  if (until === undefined || !(Date.parse(until) > Date.parse(createdAt)))
    return explain(cause, 'says what the volume waits for')
  const why = `again after ${until.slice(11, 19)}Z: what the kubelet has not done by then`
  return { argv: ['volctl', 'plan'], why }
}

/** What explaining something is good for. */
export const SAYS_WHY = 'says what is wrong, and what to do'

function explain(cause: Cause, why = SAYS_WHY): Step {
  return { argv: ['volctl', 'explain', subjectOf(cause)], why }
}

/** Of what was named a kubelet that starts ends all that is left: whether it may start, the whole plan says. */
function restStep(plan: Plan): Step[] | undefined {
  const { filtered, causes = [] } = plan.summary
  if (filtered === 0 || causes.length === 0 || !isDown(plan)) return undefined
  if (!causes.every((cause) => endsByStart(cause) && cause.affects.waiting === 0)) return undefined
  return [
    { argv: ['volctl', 'plan'], flags: 'read', why: `shows what was left out (${filtered}), and what comes then` },
  ]
}

/** Nothing is left for volctl to do, with any flags, and the kubelet is down. */
function startStep(plan: Plan): Step[] | undefined {
  const unit = unitToStart(plan)
  if (unit === undefined) return undefined
  const ended = plan.summary.causes?.filter(endsByStart) ?? []
  const volumes = new Set(ended.flatMap(({ subject, affects }) => subject.volume ?? affects.volumes)).size
  const why = ended.some(({ code }) => code === 'LeftToKubelet')
    ? 'the kubelet then sets up what is left'
    : volumes === 0
      ? 'nothing is left to do: start the kubelet'
      : `the attach/detach controller then goes on with ${count(volumes, 'volume')}`
  return [{ argv: ['systemctl', 'start', unit], why }]
}

/** Undefined: it is not down, it has none, or not all was seen. */
function unitToStart(plan: Plan): string | undefined {
  return isDown(plan) && plan.complete && plan.summary.filtered === 0 ? plan.inputs.kubelet.unit : undefined
}

function isDown({ inputs: { kubelet } }: Plan): boolean {
  return kubelet.state === 'stopped' || kubelet.state === 'mayReturn'
}

/** What the attach/detach controller acts on next: it goes by what a kubelet reports, and a kubelet that starts makes it no worse. */
function endsByStart({ kind, severity, code, affects }: Cause): boolean {
  // What only a kubelet sets up waits for one.
  if (code === 'LeftToKubelet') return affects.waiting > 0
  return kind === 'controller' && severity !== 'error'
}

/** A word that `volctl explain` takes. */
function subjectOf({
  subject: { driver, pod, volume, claim, attachment, object, path },
  affects,
  code,
}: Cause): string {
  if (driver !== undefined) return `driver/${driver}`
  if (pod !== undefined) return podName(pod)
  if (claim !== undefined) return `pvc/${claim}`
  if (attachment !== undefined) return `va/${attachment}`
  // Of what could not be read only the code can be asked about.
  if (object !== undefined) return code
  const [first] = affects.pods
  return volume ?? path ?? (first === undefined ? affects.volumes[0] : podName(first)) ?? code
}
