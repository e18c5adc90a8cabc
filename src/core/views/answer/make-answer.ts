/** A node's plan as the answer to "what is wrong, and what next". Pure. */
import { alike, count, present } from '../../base/text.ts'
import type { Cause } from '../../plan/cause.ts'
import { kubeletText } from '../../plan/commands.ts'
import { apiDoubts } from '../../plan/insecure-api.ts'
import { OPERATIONS } from '../../plan/kinds.ts'
import { type PodText, podTextIn, shownVolume } from '../../plan/names.ts'
import type { Operation, OperationKind, Plan, Waiting } from '../../plan/plan.ts'
import { isForgotten } from '../../plan/plan-summary.ts'
import { rowOf } from '../../volumes/finding.ts'
import { type Answer, few, type Need, type Part, type Row, withoutRoot } from './answer.ts'
import { inBothScopes } from './needs.ts'
import { lossText, readyPart } from './ready.ts'

export function answerOf(plan: Plan, podText = podTextIn(plan)): Answer {
  const { answer, pressing, passes } = inBothScopes(plan, {
    podText,
    said: (text) => withoutRoot(text, plan.rootDir),
    isStopped: plan.inputs.kubelet.state === 'stopped',
  })
  return {
    ...answer,
    headline: headlineOf(plan),
    doubts: doubtsOf(plan),
    needs: [...answer.needs, ...neverOf(plan, pressing)],
    parts: [
      readyPart(plan, podText),
      keptPart(plan, podText),
      { name: 'Left to others', rows: othersRows(plan, plan.waiting.filter(passes), podText) },
    ],
    next: plan.summary.next ?? [],
  }
}

/** `pg-node: kubelet stopped; 14 pods, 3 deleted pods left something here`. */
function headlineOf({ node, inputs, complete }: Plan): string {
  const { kubelet, pods } = inputs
  const gone = pods.gone === 0 ? '' : `, ${count(pods.gone, 'deleted pod')} left something here`
  // A list that was not read has no pods.
  const listed = pods.listed === 0 && !complete ? '' : `; ${count(pods.listed, 'pod')}`
  return `${node}: kubelet ${kubeletText(kubelet, false)}${listed}${gone}`
}

/** What matches is not said. */
function doubtsOf({ inputs: { machine, api }, refused }: Plan): string[] {
  const { contradictions = [] } = machine
  const differs = contradictions.map(({ field, accepted }) => (accepted ? `${field} (accepted)` : field))
  return present(
    refused === undefined && !machine.matches && 'Nothing proves that this machine is the node',
    refused === undefined && differs.length > 0 && `The Node object has another ${differs.join(', ')}`,
    ...apiDoubts(api).map((each) => `API server ${api.server}: ${each}`),
  )
}

/** Nobody may wait for what a kubelet that runs never does; a volume with something worse to say is not named again. */
function neverOf({ operations, waiting, problems }: Plan, pressing: readonly Cause[]): Need[] {
  const worse = new Set(pressing.flatMap(({ key, subject }) => (subject.volume === undefined ? [] : key)))
  const blocked = operations.map((each) => ({ cause: each.blocked?.cause, subject: each.subject }))
  const own = [...blocked, ...waiting, ...problems].filter(({ cause }) => worse.has(cause ?? ''))
  const named = new Set(own.map(({ subject }) => rowOf(subject)))
  const rest = waiting.flatMap((each) =>
    isForgotten(each) && !named.has(rowOf(each.subject)) ? shownVolume(each) : [],
  )
  if (rest.length === 0) return []
  const [what, them] = rest.length === 1 ? ['a staged volume', 'it'] : [`${rest.length} staged volumes`, 'them']
  const text = `The kubelet has lost track of ${what}, and never unstages ${them}`
  return [{ severity: 'warning', text, names: few(rest), blocks: [], remedy: [] }]
}

function keptPart(plan: Plan, podText: PodText): Part {
  const data = plan.operations.filter(({ blocked }) => blocked?.code === 'DeletesData')
  const directories = plan.problems.filter(({ code }) => code === 'OrphanPodDir')
  const asked = plan.operations.filter(({ blocked }) => blocked?.code === 'NotAsked')
  const labelOf = ({ pod }: Pick<Operation, 'pod'>): string => (pod === undefined ? '-' : podText(pod))
  const rows = [
    ...alike(data, ({ pod }) => pod?.uid).map((mine) => {
      return { label: labelOf(mine[0]), text: mine.map(lossText).join('; ') }
    }),
    ...(data.length === 0 ? directories.map(({ message }) => ({ text: message })) : []),
    ...alike(asked, ({ kind }) => kind).map(askedRow),
  ]
  const title = titleOf(data.length > 0, directories.length > 0)
  // A plan that is refused does nothing, whatever is asked.
  return { name: 'Kept', title, rows: plan.refused === undefined ? rows : [] }
}

function titleOf(hasData: boolean, hasDirectories: boolean): string {
  if (hasData) return `emptyDir data (--orphans deletes it${hasDirectories ? ", and the pods' directories" : ''})`
  return hasDirectories ? 'directories of deleted pods (--orphans removes them)' : 'what the kubelet would change'
}

/** S23: a kubelet may be held down just to keep these. */
function askedRow(mine: readonly [Operation, ...Operation[]]): Row {
  const what = few(mine.map((each) => `${each.pod?.name ?? ''} ${shownVolume(each)}`.trim()))
  const text =
    mine[0].kind === 'ExpandVolume'
      ? `may grow: ${what} (--expand grows them)`
      : `with old content: ${what} (--remount writes it again)`
  return { label: count(mine.length, 'volume'), text }
}

// What the kubelet, the attach/detach controller or a driver does next, and until when.

/** @param waits those that end without a person */
function othersRows(plan: Plan, waits: readonly Waiting[], podText: PodText): Row[] {
  const whose = ({ pod, volume }: Waiting): string => (pod === undefined ? shownVolume({ volume }) : podText(pod))
  const settling = waits.filter(({ code }) => code === 'Settling')
  return [
    ...kubeletRows(waits),
    ...(plan.inputs.kubelet.state === 'stopped' ? stoppedRows(settling, plan, whose) : settlingRows(settling, whose)),
    ...waitRows(
      waits.filter(({ code }) => code !== 'KubeletRunning' && code !== 'Settling'),
      (each) => `${each.pod === undefined ? '' : `${podText(each.pod)} `}${shownVolume(each)}`,
      ({ message }) => withoutRoot(message, plan.rootDir),
    ),
  ]
}

function kubeletRows(waits: readonly Waiting[]): Row[] {
  const mine = waits.filter((wait) => wait.code === 'KubeletRunning' && !isForgotten(wait))
  return alike(mine, ({ kind }) => doesText(kind)).map((all): Row => {
    const [{ kind }] = all
    const pods = new Set(all.flatMap(({ pod }) => pod?.uid ?? [])).size
    const volumes = all.map((each) => shownVolume({ volume: each.volume }))
    // Of one volume two things may be left to do.
    const each = new Set(all.map(({ subject, pod }, index) => rowOf(subject) ?? `${pod?.uid} ${volumes[index]}`))
    const what = pods > 0 ? `${count(each.size, 'volume')} of ${count(pods, 'pod')}` : few(volumes)
    const once = `once the kubelet reports ${all.length === 1 ? 'it' : 'them'} unused`
    return kind === 'DetachVolume'
      ? { label: 'controller', text: `detaches ${few(volumes)} ${once}` }
      : { label: 'kubelet', text: `${doesText(kind)} ${what}` }
  })
}

/** What a kubelet that runs does: `sets up`. */
function doesText(kind: OperationKind): string {
  const [verb, ...more] = OPERATIONS[kind].verb.split(' ')
  return [`${verb}s`, ...more].join(' ') + (kind === 'RemountVolume' ? ', within 2 minutes,' : '')
}

/** A change of a moment ago may be the kubelet's work. */
function settlingRows(waits: readonly Waiting[], whose: (wait: Waiting) => string): Row[] {
  return alike(waits, ({ until }) => until).map((all): Row => {
    const [{ until }] = all
    const then = until === undefined ? '' : `; after ${until.slice(11, 19)}Z volctl does it`
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

/** Beside the name that the row begins with. */
const OTHERS_AT_MOST = 3

/** A row for the waits of which the same is said: with the names of a few. */
export function waitRows<T extends Pick<Waiting, 'kind' | 'message'>>(
  waits: readonly T[],
  nameOf: (wait: T) => string,
  textOf: (wait: T) => string,
): Row[] {
  return alike(waits, ({ kind, message }) => `${kind} ${message}`).map(([first, ...others]): Row => {
    const more = others.length === 0 ? '' : `; likewise ${few(others.map(nameOf), OTHERS_AT_MOST)}`
    return { label: nameOf(first), text: `${textOf(first)}${more}` }
  })
}
