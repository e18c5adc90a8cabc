/** What to type next on this node. The first command is the next step; the others belong to it. */
import { formatDuration } from '../lang/duration.ts'
import { shellWord } from '../lang/shell-word.ts'
import { isForKubelet, kubeletOutlook } from './kubelet-outlook.ts'
import { runsApiServer } from './kubelet-units.ts'
import type { NextStep, Operation, Plan, PodRef, Problem, VolumeRef } from './plan.ts'
import { operationRank } from './plan-groups.ts'
import { namespacedName } from './pod-name.ts'
import { snapshotWords } from './snapshot-words.ts'

export interface Given {
  /** Words of the command line that `apply` needs as well: `--orphans`, `--pod`, `shop/web-0`. */
  readonly words: readonly string[]
  /** The same for a command that is typed on the node itself; given where volctl runs in a container. */
  readonly wordsOnNode?: readonly string[] | undefined
  readonly settleMs: number
  /** The file that the plan was made from, maybe on another machine. */
  readonly snapshot?: string | undefined
  /** What runs volctl on another node, where that is known: `kubectl volctl`. */
  readonly through?: string | undefined
}

/** The plan with the next steps for a person. */
export function withAdvice<T extends Plan>(plan: T, given: Given): T {
  const kubelet = kubeletOutlook(plan)
  const steps = nextSteps(plan, given)
  const { snapshot, through, wordsOnNode } = given
  const placed = wordsOnNode === undefined ? steps : steps.map((step) => ofContainer(step, plan.node))
  const next = snapshot === undefined ? placed : steps.map((step) => ofSnapshot(step, plan.node, snapshot, through))
  return {
    ...plan,
    summary: { ...plan.summary, ...(kubelet !== undefined && { kubelet }), ...(next.length > 0 && { next }) },
  }
}

/** volctl runs in a container; what stops or starts the kubelet, and volctl meanwhile, is typed on the node, since no Pod starts then. */
function ofContainer(step: NextStep, node: string): NextStep {
  return step.command.startsWith('volctl ') ? step : { ...step, node }
}

/** What reads, reads the snapshot; what acts, acts on the node. */
function ofSnapshot({ command, why }: NextStep, node: string, snapshot: string, through?: string): NextStep {
  if (!/^volctl (?:explain|plan) /.test(`${command} `)) {
    const words = through === undefined ? undefined : /^volctl (.*)$/s.exec(command)?.[1]
    return words === undefined ? { command, why, node } : { command: `${through} on ${shellWord(node)} ${words}`, why }
  }
  return { command: `${command}${snapshotWords(snapshot)}`, why }
}

function nextSteps(plan: Plan, given: Given): readonly NextStep[] {
  const { refused } = plan
  if (refused !== undefined)
    return [{ command: `volctl explain ${refused.code}`, why: 'says why nothing is done, and what would lift it' }]
  const apply = applySteps(plan, given)
  const kubelet = kubeletSteps(plan, given)
  // What is known is looked at before a process is ended of which nobody knows what started it.
  const isUnsure = kubelet.length > 0 && apply.length === 0 && plan.inputs.kubelet.unit === undefined
  const steps = [...apply, ...(isUnsure ? lookSteps(plan, given).slice(0, 1) : []), ...kubelet]
  if (steps.length > 0) return steps
  return [...settleSteps(plan, given), ...lookSteps(plan, given), ...startSteps(plan)].slice(0, 1)
}

function applySteps({ summary }: Plan, { words }: Given): NextStep[] {
  const { ready = 0, freedBy = [] } = summary
  if (ready > 0) {
    const what = ready === 1 ? 'the operation that is ready' : `the ${ready} operations that are ready`
    return [{ command: volctl('apply', ...words), why: `asks, and carries out ${what}` }]
  }
  return freedBy.slice(0, 1).map(({ flag, operations }) => ({
    command: volctl('plan', ...words, flag),
    why: `shows what ${flag} would do: ${operations} more ${operations === 1 ? 'operation' : 'operations'}`,
  }))
}

/** Only if something waits that the kubelet never does; otherwise the kubelet is left alone. */
function kubeletSteps(plan: Plan, { words, wordsOnNode = words, settleMs }: Given): NextStep[] {
  const { unit } = plan.inputs.kubelet
  const stops = stopSteps(plan.inputs.kubelet)
  const never = kubeletOutlook(plan)?.never ?? []
  // Operations without waits need no stopped kubelet.
  if (stops.length === 0 || !never.some(({ about }) => about !== undefined)) return []
  const seconds = Math.ceil(settleMs / 1000)
  const api =
    unit !== undefined && runsApiServer(unit)
      ? `; ${unit} also runs this node's API server: give the --kubeconfig of another one`
      : ''
  return [
    ...stops,
    {
      command: `sleep ${seconds}; ${volctl('apply', ...wordsOnNode)}`,
      why: `after the settle time of ${formatDuration(settleMs)}${api}`,
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

/** Of a kubelet that stopped a moment ago: when to go on (S11). An error is looked at first. */
function settleSteps({ createdAt, waiting, problems }: Plan, { words, wordsOnNode = words }: Given): NextStep[] {
  if (problems.some(({ severity }) => severity === 'error')) return []
  const ends = waiting.flatMap(({ code, until }) =>
    code === 'KubeletJustStopped' && until !== undefined ? [Date.parse(until)] : [],
  )
  const seconds = Math.ceil((Math.max(...ends) - Date.parse(createdAt)) / 1000)
  if (!Number.isFinite(seconds) || seconds <= 0) return []
  const command = `sleep ${seconds}; ${volctl('apply', ...wordsOnNode)}`
  return [{ command, why: 'by then the kubelet has been stopped for the settle time' }]
}

/** What is known about the worst thing that volctl does nothing about. */
function lookSteps({ operations, waiting, problems }: Plan, { words }: Given): NextStep[] {
  const error = problems.find(({ severity }) => severity === 'error')
  const blocked = operations
    .filter((operation) => operation.blocked !== undefined)
    .toSorted((a, b) => operationRank(a) - operationRank(b))[0]
  const waits = waiting.find((wait) => !isForKubelet(wait)) ?? waiting[0]
  const warning = problems.find(({ severity }) => severity === 'warning')
  const note = problems.find(({ code }) => code === 'OrphanPodDir')
  const looks = [
    error && explain(subjectOf(error)),
    blocked && explain(nameOf(blocked), 'says what blocks the operation, and what to do'),
    waits && explain(nameOf(waits), 'says what the volume waits for'),
    warning && explain(subjectOf(warning)),
    note && {
      command: volctl('plan', ...words, '--orphans'),
      why: 'shows also the directories and the emptyDir data of orphaned pods',
    },
  ]
  return looks.filter((step) => step !== undefined)
}

function explain(what: string | undefined, why = 'says what is wrong, and what to do'): NextStep | undefined {
  return what === undefined ? undefined : { command: volctl('explain', what), why }
}

/** Nothing is left to do, with any flags, and the kubelet is down. */
function startSteps({ inputs: { kubelet }, complete, summary }: Plan): NextStep[] {
  const isDown = kubelet.state === 'stopped' || kubelet.state === 'mayReturn'
  if (!isDown || kubelet.unit === undefined || !complete || summary.filtered > 0) return []
  return [{ command: `systemctl start ${shellWord(kubelet.unit)}`, why: 'nothing is left to do: start the kubelet' }]
}

function subjectOf({ code, about: { pod, path, volume } }: Problem): string {
  return pod ?? volume ?? path ?? code
}

function nameOf({
  pod,
  volume,
}: { readonly pod?: PodRef; readonly volume?: VolumeRef } & Partial<Operation>): string | undefined {
  if (pod !== undefined) return pod.name === undefined ? pod.uid : namespacedName(pod)
  return volume?.persistentVolume ?? volume?.name
}

/** A command line of volctl, each word as a shell needs it. */
export function volctl(...words: readonly string[]): string {
  return ['volctl', ...words.map(shellWord)].join(' ')
}
