/** What the kubelet, the attach/detach controller or a driver does next, and until when. */
import { count } from '../../base/count.ts'
import { OPERATIONS } from '../../plan/kinds.ts'
import type { OperationKind, Plan, Waiting } from '../../plan/plan.ts'
import { type PodText, shownVolume } from '../../plan/plan-names.ts'
import { isForgotten } from '../../plan/plan-summary.ts'
import { rowOf } from '../../plan/subject.ts'
import type { Part, Row } from './answer.ts'
import { few, withoutRoot } from './names.ts'

/** @param waits those that end without a person */
export function othersPart(plan: Plan, waits: readonly Waiting[], podText: PodText): Part | undefined {
  const whose = ({ pod, volume }: Waiting): string => (pod === undefined ? shownVolume({ volume }) : podText(pod))
  const settling = waits.filter(({ code }) => code === 'Settling')
  const rows = [
    ...kubeletRows(waits),
    ...(plan.inputs.kubelet.state === 'stopped' ? stoppedRows(settling, plan, whose) : settlingRows(settling, whose)),
    ...controllerRows(waits, plan, podText),
  ]
  return rows.length === 0 ? undefined : { title: '', rows }
}

function kubeletRows(waits: readonly Waiting[]): Row[] {
  const mine = waits.filter((wait) => wait.code === 'KubeletRunning' && !isForgotten(wait))
  return [...Map.groupBy(mine, ({ kind }) => doesText(kind))].map(([does, all]): Row => {
    const pods = new Set(all.flatMap(({ pod }) => pod?.uid ?? [])).size
    const volumes = all.map((each) => shownVolume({ volume: each.volume }))
    // Of one volume two things may be left to do.
    const each = new Set(all.map(({ subject, pod }, index) => rowOf(subject) ?? `${pod?.uid} ${volumes[index]}`))
    const what = pods > 0 ? `${count(each.size, 'volume')} of ${count(pods, 'pod')}` : few(volumes)
    return all[0]?.kind === 'DetachVolume'
      ? {
          label: 'controller',
          text: `detaches ${few(volumes)} once the kubelet reports ${all.length === 1 ? 'it' : 'them'} unused`,
        }
      : { label: 'kubelet', text: `${does} ${what}` }
  })
}

/** What a kubelet that runs does: `sets up`. */
function doesText(kind: OperationKind): string {
  const [verb, ...more] = OPERATIONS[kind].verb.split(' ')
  return [`${verb}s`, ...more].join(' ') + (kind === 'RemountVolume' ? ', within 2 minutes,' : '')
}

/** A change of a moment ago may be the kubelet's work. */
function settlingRows(waits: readonly Waiting[], whose: (wait: Waiting) => string): Row[] {
  return [...Map.groupBy(waits, ({ until }) => until)].map(([until, all]): Row => {
    const then = until === undefined ? '' : `; after ${clock(until)} volctl does it`
    return { label: 'kubelet', text: `tears down what changed a moment ago: ${few(all.map(whose))}${then}` }
  })
}

/** Of a kubelet that stopped a moment ago: all at once. */
function stoppedRows(waits: readonly Waiting[], { createdAt }: Plan, whose: (wait: Waiting) => string): Row[] {
  // A detach waits for the controller as well.
  const first = waits.find(({ kind }) => kind !== 'DetachVolume') ?? waits[0]
  if (first === undefined) return []
  const end = waits.reduce((latest, { until = createdAt }) => Math.max(latest, Date.parse(until)), 0)
  const seconds = Math.ceil((end - Date.parse(createdAt)) / 1000)
  const left = seconds > 0 ? `${seconds} s more: ` : ''
  return [{ label: 'waiting time', text: `${left}${first.message} (${few(waits.map(whose))})` }]
}

const KUBELETS: ReadonlySet<Waiting['code']> = new Set<Waiting['code']>(['KubeletRunning', 'Settling'])

function controllerRows(waits: readonly Waiting[], { rootDir }: Plan, podText: PodText): Row[] {
  const others = waits.filter(({ code }) => !KUBELETS.has(code))
  return waitRows(
    others,
    (each) => `${each.pod === undefined ? '' : `${podText(each.pod)} `}${shownVolume(each)}`,
    ({ message }) => withoutRoot(message, rootDir),
  )
}

/** Beside the name that the row begins with. */
const OTHERS_AT_MOST = 3

/** A row for the waits of which the same is said: with the names of a few. */
export function waitRows<T extends Pick<Waiting, 'kind' | 'message'>>(
  waits: readonly T[],
  nameOf: (wait: T) => string,
  textOf: (wait: T) => string,
): Row[] {
  const alike = Map.groupBy(waits, ({ kind, message }) => `${kind} ${message}`)
  return [...alike.values()].flatMap((same): Row[] => {
    const [first, ...others] = same
    if (first === undefined) return []
    const more = others.length === 0 ? '' : `; likewise ${few(others.map(nameOf), OTHERS_AT_MOST)}`
    return [{ label: nameOf(first), text: `${textOf(first)}${more}` }]
  })
}

/** `11:15:00Z`, of an RFC 3339 time in UTC. */
function clock(time: string): string {
  return `${time.slice(11, 19)}Z`
}
