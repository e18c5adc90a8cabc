/** What to type next on this node. The first command is the next step; the others belong to it. */
import { count } from '../lang/count.ts'
import { formatDuration } from '../lang/duration.ts'
import { firstFew } from '../lang/first-few.ts'
import { shellWord } from '../lang/shell-word.ts'
import type { Cause } from './cause.ts'
import { isForgotten } from './forgotten.ts'
import { runsApiServer } from './kubelet-units.ts'
import type { NextStep, Plan } from './plan.ts'
import { readyText } from './plan-summary.ts'
import { podName } from './pod-name.ts'
import { settledAt } from './settled-at.ts'
import { snapshotWords } from './snapshot-words.ts'
import { stopPod } from './stop-pod.ts'

export interface Given {
  /** Words of the command line that `apply` needs as well: `--orphans`, `--pod`, `shop/web-0`. */
  readonly words: readonly string[]
  /** The same for a command that is typed on the node itself; given where volctl runs in a container. */
  readonly wordsOnNode?: readonly string[] | undefined
  /** Words that a command which only looks needs as well: --kubeconfig. */
  readonly reading?: readonly string[]
  readonly settleMs: number
  /** The file that the plan was made from, maybe on another machine. */
  readonly snapshot?: string | undefined
}

/** The plan with the next steps for a person. */
export function withAdvice<T extends Plan>(plan: T, given: Given): T {
  const steps = nextSteps(plan, given)
  const { snapshot, wordsOnNode } = given
  const placed = steps.map(({ onNode, ...step }) =>
    wordsOnNode === undefined ? step : ofContainer({ ...step, onNode: onNode === true }, plan.node),
  )
  const next = snapshot === undefined ? placed : steps.map((step) => ofSnapshot(step, plan.node, snapshot))
  return { ...plan, summary: { ...plan.summary, ...(next.length > 0 && { next }) } }
}

/** `onNode`: the kubelet is down meanwhile, and no Pod starts. */
interface Step extends NextStep {
  readonly onNode?: boolean
}

/** volctl runs in a container; what stops or starts the kubelet, and volctl meanwhile, is typed on the node. */
function ofContainer({ onNode = false, ...step }: Step, node: string): NextStep {
  return step.command.startsWith('volctl ') && !onNode ? step : { ...step, node }
}

/** What reads, reads the snapshot; what acts, acts on the node. */
function ofSnapshot({ onNode: _, ...step }: Step, node: string, snapshot: string): NextStep {
  const { command } = step
  const reads = /^volctl (?:explain|plan) /.test(`${command} `)
  return reads ? { ...step, command: `${command}${snapshotWords(snapshot)}` } : { ...step, node }
}

function nextSteps(plan: Plan, given: Given): readonly Step[] {
  const { refused } = plan
  if (refused !== undefined)
    return [{ command: volctl('explain', refused.code), why: 'says why nothing is done, and what would lift it' }]
  const drivers = driverSteps(plan, given)
  if (drivers.length > 0) return drivers
  const apply = [...applySteps(plan, given), ...podSteps(plan, given)]
  const kubelet = kubeletSteps(plan, given)
  // Before a process of unknown origin is ended, the person looks at what is known.
  const isUnsure = kubelet.length > 0 && apply.length === 0 && plan.inputs.kubelet.unit === undefined
  const steps = [...apply, ...(isUnsure ? lookSteps(plan, given).slice(0, 1) : []), ...kubelet]
  if (steps.length > 0) return steps
  const others = [settleSteps, restSteps, lookSteps, startSteps]
  return others.flatMap((steps) => steps(plan, given)).slice(0, 1)
}

function applySteps({ summary }: Plan, { words }: Given): NextStep[] {
  const { ready = 0, freedBy = [] } = summary
  if (ready > 0) {
    return [{ command: volctl('apply', ...words), why: `asks, and carries out ${readyText(ready)}` }]
  }
  const held = heldSteps(summary, words)
  if (held.length > 0) return held
  return freedBy.slice(0, 1).map(({ flag, operations }) => ({
    command: volctl('plan', ...words, flag),
    why: `shows what ${flag} would do: ${operations} more ${operations === 1 ? 'operation' : 'operations'}`,
  }))
}

/** Only if something waits that the kubelet never does; otherwise the kubelet is left alone. */
function kubeletSteps(plan: Plan, { words, wordsOnNode = words, settleMs }: Given): Step[] {
  const { unit, state } = plan.inputs.kubelet
  if (!plan.waiting.some(isForgotten)) return []
  if (unit !== undefined && state === 'running') {
    const api = runsApiServer(unit) ? '; needs the --kubeconfig of another API server' : ''
    const command = volctl('apply', '--stop-kubelet', ...wordsOnNode)
    return [{ command, why: `stops ${unit} for what the kubelet never does, and starts it again${api}`, onNode: true }]
  }
  const stops = stopSteps(plan.inputs.kubelet)
  if (stops.length === 0) return []
  return [
    ...stops,
    {
      command: volctl('apply', ...wordsOnNode),
      why: `waits for the settle time of ${formatDuration(settleMs)}`,
      onNode: true,
    },
    ...(unit === undefined ? [] : [{ command: `systemctl start ${shellWord(unit)}`, why: 'afterwards' }]),
  ]
}

/** Without a unit: how to find what started the kubelet, and to end its process. */
function stopSteps({ unit, pid, state }: Plan['inputs']['kubelet']): NextStep[] {
  const pods = 'for what the kubelet never does; pods run on without it'
  if (unit !== undefined) return [{ command: `systemctl stop ${shellWord(unit)}`, why: pods }]
  if (state === 'mayReturn') return []
  if (pid === undefined)
    return [
      {
        command: "pgrep -af 'kubelet|k3s|k0s'",
        why: 'no unit of the kubelet is known: find its process, and stop what runs it',
      },
    ]
  return [
    {
      command: `ps -o pid,ppid,lstart,args -p ${pid}`,
      why: 'no unit of the kubelet is known: see that this is the kubelet, and what started it (PPID)',
    },
    {
      command: `kill ${pid}`,
      why: `${pods}; what supervises the kubelet may start it again`,
    },
  ]
}

/** Who uses what would be taken away is known, and a person ends that. */
function heldSteps({ causes = [] }: Plan['summary'], words: readonly string[]): NextStep[] {
  const [worst] = causes.filter(({ severity }) => severity === 'error')
  if (worst?.code !== 'HeldBy' || worst.affects.operations.length === 0) return []
  return [{ first: endOf(worst.users), command: volctl('apply', ...words), why: 'does what waits for that' }]
}

/** Of more processes than this the first few are named. */
const USERS_AT_MOST = 3

/** `stop sleep (pid 191)`: how a person ends a use. */
export function endOf(users: Cause['users'] = []): string {
  if (users.length === 0) return 'end that use'
  const names = users.map(({ pid, process }) => `${process} (pid ${pid})`)
  return `stop ${firstFew(names, USERS_AT_MOST, 'and ').join(', ')}`
}

/** Of a kubelet that stopped a moment ago: apply waits unasked (S11). An error is looked at first. */
function settleSteps(plan: Plan, { words, wordsOnNode = words }: Given): Step[] {
  if (plan.problems.some(({ severity }) => severity === 'error')) return []
  const left = (settledAt(plan) ?? Number.NaN) - Date.parse(plan.createdAt)
  if (!(left > 0)) return []
  const why = `waits the ${formatDuration(left)} that are left of the settle time, and asks`
  return [{ command: volctl('apply', ...wordsOnNode), why, onNode: true }]
}

/** Causes that a kubelet which starts makes no worse. */
const HARMLESS: ReadonlySet<Cause['kind']> = new Set<Cause['kind']>(['driver', 'missing', 'volume'])

/** A driver of this node comes with the kubelet: where nothing speaks against one that starts, all else can wait for it. */
function driverSteps({ inputs: { kubelet }, summary: { causes = [] } }: Plan, { words }: Given): NextStep[] {
  const errors = causes.filter(({ severity }) => severity === 'error')
  const stuck = errors.find(
    ({ kind, affects: { operations, waiting } }) => kind === 'driver' && operations.length + waiting > 0,
  )
  if (stuck === undefined || kubelet.state !== 'stopped' || kubelet.unit === undefined) return []
  if (!errors.every(({ kind }) => HARMLESS.has(kind))) return []
  return [
    { command: `systemctl start ${shellWord(kubelet.unit)}`, why: 'starts the drivers; it then does most of this' },
    { command: volctl('plan', ...words), why: 'what it leaves' },
  ]
}

/** Of more pods than this the first one is stopped first. */
const PODS_AT_MOST = 3

/**
 * A pod that was deleted and still runs is stopped by the runtime: a kubelet that starts unmounts its volumes before (O2). So is one that
 * has ended and keeps something waiting while no kubelet runs. A runtime that does not answer stops nothing.
 */
function podSteps(plan: Plan, { words }: Given): NextStep[] {
  const { causes = [] } = plan.summary
  if (plan.inputs.runtime.pods === 0 && causes.some(({ code }) => code === 'RuntimeUnknown')) return []
  const stops = causes.flatMap(({ key, code, severity, subject: { pod } }) => {
    if (severity !== 'error' || pod === undefined) return []
    const is = code === 'PodGoneButRunning' ? 'was deleted' : isEnding(plan, key) ? 'is ending' : undefined
    return is === undefined ? [] : { command: stopPod(pod.uid), why: `stops pod ${podName(pod)}, which ${is}` }
  })
  if (stops.length === 0) return []
  return [
    ...(stops.length > PODS_AT_MOST ? stops.slice(0, 1) : stops),
    { command: volctl('plan', ...words), why: 'what that frees' },
  ]
}

/** Of processes that the runtime did not start, the problem says where they come from. */
function isEnding(plan: Plan, key: string): boolean {
  const isOwn = ({ code, cause, hint }: Plan['problems'][number]): boolean =>
    code === 'PodStillRunning' && cause === key && hint === undefined
  return isDown(plan) && plan.problems.some(isOwn)
}

/** What is known about the worst thing that volctl does nothing about, and that ends with no kubelet that starts. */
function lookSteps(plan: Plan, given: Given): NextStep[] {
  const { words, reading = [] } = given
  const { summary, createdAt } = plan
  const ended = new Set(endedByStart(plan))
  const causes = summary.causes?.filter((cause) => !ended.has(cause)) ?? []
  const pressing = causes.find(({ severity }) => severity !== 'info')
  const passing = causes.find(({ affects: { waiting }, kind }) => waiting > 0 && kind !== 'data')
  const directories = causes.find(({ code }) => code === 'OrphanPodDir')
  const looks = [
    pressing && explain(subjectOf(pressing), reading),
    passing && laterStep(passing, createdAt, given),
    directories && {
      command: volctl('plan', ...words, '--orphans'),
      why: 'shows also the directories and the emptyDir data of deleted pods',
    },
  ]
  return looks.filter((step) => step !== undefined)
}

/** What ends at a known time is looked at again then. */
function laterStep(cause: Cause, createdAt: string, { words, reading = [] }: Given): NextStep | undefined {
  const { until } = cause
  if (until === undefined || !(Date.parse(until) > Date.parse(createdAt)))
    return explain(subjectOf(cause), reading, 'says what the volume waits for')
  return {
    command: volctl('plan', ...words),
    why: `again after ${until.slice(11, 19)}Z: what the kubelet has not done by then`,
  }
}

function explain(what: string, reading: readonly string[], why = 'says what is wrong, and what to do'): NextStep {
  return { command: volctl('explain', ...reading, what), why }
}

/** Of what was named a kubelet that starts ends all that is left: whether it may start, the whole plan says. */
function restSteps(plan: Plan, { reading = [] }: Given): NextStep[] {
  const { filtered, causes = [] } = plan.summary
  if (filtered === 0 || causes.length === 0 || !isDown(plan)) return []
  if (!causes.every((cause) => endsByStart(cause) && cause.affects.waiting === 0)) return []
  return [{ command: volctl('plan', ...reading), why: `shows what was left out (${filtered}), and what comes then` }]
}

/** Nothing is left for volctl to do, with any flags, and the kubelet is down. */
function startSteps(plan: Plan): NextStep[] {
  const unit = unitToStart(plan)
  if (unit === undefined) return []
  const ended = endedByStart(plan)
  if (ended.some(({ code }) => code === 'LeftToKubelet'))
    return [{ command: `systemctl start ${shellWord(unit)}`, why: 'the kubelet then sets up what is left' }]
  const volumes = new Set(ended.flatMap(({ subject, affects }) => subject.volume ?? affects.volumes)).size
  const why =
    volumes === 0
      ? 'nothing is left to do: start the kubelet'
      : `the attach/detach controller then goes on with ${count(volumes, 'volume')}`
  return [{ command: `systemctl start ${shellWord(unit)}`, why }]
}

/** Undefined: it is not down, it has none, or not all was seen. */
function unitToStart(plan: Plan): string | undefined {
  return isDown(plan) && plan.complete && plan.summary.filtered === 0 ? plan.inputs.kubelet.unit : undefined
}

function isDown({ inputs: { kubelet } }: Plan): boolean {
  return kubelet.state === 'stopped' || kubelet.state === 'mayReturn'
}

/** What the attach/detach controller acts on next: it goes by what a kubelet reports, and a kubelet that starts makes it no worse. */
function endedByStart(plan: Plan): readonly Cause[] {
  if (unitToStart(plan) === undefined) return []
  return plan.summary.causes?.filter(endsByStart) ?? []
}

function endsByStart({ kind, severity, code, affects }: Cause): boolean {
  // What only a kubelet sets up waits for one.
  if (code === 'LeftToKubelet') return affects.waiting > 0
  return kind === 'controller' && severity !== 'error'
}

/** What `explain` finds by its kind and its name. */
const EXPLAINED = /^(?:Pod|PersistentVolume|PersistentVolumeClaim|VolumeAttachment|CSIDriver|Node) \S+$/i

/** A word that `volctl explain` takes. */
function subjectOf({ subject: { driver, pod, volume, object, path }, affects, code }: Cause): string {
  if (driver !== undefined) return `driver/${driver}`
  if (pod !== undefined) return podName(pod)
  if (object !== undefined) {
    // Of a part of the snapshot, or of several things, only the code can be asked about.
    if (!EXPLAINED.test(object)) return code
    return object.replace(/^PersistentVolumeClaim /, 'pvc/').replace(' ', '/')
  }
  const [first] = affects.pods
  return volume ?? path ?? (first === undefined ? affects.volumes[0] : podName(first)) ?? code
}

/** A command line of volctl, each word as a shell needs it. */
export function volctl(...words: readonly string[]): string {
  return ['volctl', ...words.map(shellWord)].join(' ')
}
