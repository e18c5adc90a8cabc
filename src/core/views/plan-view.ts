/**
 * The plan on a screen: the answer. `confirm` adds what S31 asks for before anyone says yes; -v and `-o wide` the numbered table
 * of all operations, waits and problems.
 */
import { count } from '../base/count.ts'
import type { ClusterPlan } from '../plan/cluster-plan.ts'
import type { CommandContext } from '../plan/commands.ts'
import { apiDoubts } from '../plan/insecure-api.ts'
import { KUBELET_STATES } from '../plan/kubelet-units.ts'
import type { Operation, Plan, PlanInputs, VolumeRef } from '../plan/plan.ts'
import { podTextIn, shownVolume } from '../plan/plan-names.ts'
import { few, withoutRoot } from './answer/answer.ts'
import { CONTROLLER, clusterAnswerOf, seenText } from './answer/cluster-answer.ts'
import { answerOf } from './answer/make-answer.ts'
import { renderAnswer } from './answer-view.ts'
import { type Cell, type Column, columnsTable } from './columns-table.ts'
import { clusterOperationsTable, operationsTable } from './operations-table.ts'
import type { Palette, Screen } from './screen.ts'
import { wrapped } from './wrap.ts'

export interface PlanDetail {
  /** Before apply asks: what a person must have seen (S31). */
  readonly confirm?: boolean
  /** -v: nothing is folded. */
  readonly unfolded?: boolean
  /** The plan is a snapshot's, maybe of another machine. */
  readonly elsewhere?: boolean
}

export function renderPlan(
  plan: Plan,
  screen: Screen,
  { confirm = false, unfolded = false, elsewhere = false }: PlanDetail = {},
): string {
  const { wide } = screen
  const full = unfolded || wide
  const podText = podTextIn(plan)
  const answer = answerOf(plan, podText)
  // Before a question the question is the next step.
  const asks = confirm && (plan.summary.ready ?? 0) > 0
  const more = [
    full ? operationsTable(plan, podText, screen) : '',
    full || confirm ? volumesText(plan.operations, screen) : '',
    confirm ? insteadText(plan, screen) : '',
  ].filter((part) => part !== '')
  const header = full || confirm ? planHeader(plan, screen) : undefined
  return renderAnswer(asks ? { ...answer, next: [] } : answer, screen, {
    ...{ unfolded: full, header, more },
    place: elsewhere ? plan.node : undefined,
  })
}

/** S31: what the kubelet would have done instead, where it differs. */
function insteadText({ operations, rootDir }: Plan, { width }: Screen): string {
  const byText = Map.groupBy(
    operations.filter(({ kubeletWould }) => kubeletWould !== undefined),
    ({ kubeletWould }) => kubeletWould,
  )
  const named = ({ pod, volume, paths }: Operation): string =>
    volume === undefined ? withoutRoot(paths[0] ?? '', rootDir) : shownVolume({ volume, pod })
  return [...byText]
    .map(([text, all]) => wrapped('', `The kubelet would ${text}: ${few(all.map(named))}`, width))
    .join('')
}

/** What is known of each volume that the plan acts on, once per volume (S31). */
function volumesText(operations: readonly Operation[], screen: Screen): string {
  const volumes = new Map<string, VolumeRef>()
  for (const { volume, pod } of operations) {
    if (volume === undefined || !isKnown(volume)) continue
    const key = volume.persistentVolume ?? volume.uniqueName ?? `${pod?.uid}/${volume.name}`
    volumes.set(key, { ...volume, ...volumes.get(key) })
  }
  return volumes.size === 0 ? '' : columnsTable({ columns: COLUMNS, inWords: true }, [...volumes.values()], screen)
}

/** What gives way first is the last. */
const COLUMNS: readonly Column<VolumeRef>[] = [
  { head: 'VOLUME', cell: (volume) => shownVolume({ volume }) },
  ...Object.entries<(volume: VolumeRef, screen: Screen) => Cell | undefined>({
    PLUGIN: ({ plugin }) => plugin,
    CLAIM: ({ claim }) => claim,
    PV: ({ persistentVolume }) => persistentVolume,
    DRIVER: ({ driver }) => driver,
    HANDLE: ({ handle }) => handle,
    'HANDLE FROM': ({ handleFrom }) => handleFrom,
    ACCESS: ({ accessModes }) => accessModes?.join(','),
    ATTACHED: ({ attached }) => yesNo(attached),
    'IN USE': ({ inUse }) => yesNo(inUse),
    'ALSO ATTACHED TO': ({ attachedElsewhere = [] }, { paint }) => ({
      text: attachedElsewhere.join(','),
      paint: paint.warn,
    }),
    DEVICE: ({ device }) => device,
  }).map(([head, cell], index) => ({
    ...{ head, stays: -index },
    cell: (volume: VolumeRef, screen: Screen) => cell(volume, screen) ?? '',
  })),
]

function isKnown({ claim, persistentVolume, driver, device }: VolumeRef): boolean {
  return [claim, persistentVolume, driver, device].some((value) => value !== undefined)
}

function yesNo(value: boolean | undefined): string {
  return value === undefined ? '' : value ? 'yes' : 'no'
}

/**
 * What a person must have seen before saying yes (S31): which cluster and as whom, whether this is the machine that
 * the Node object describes, what the kubelet is doing, how many pods of the node are orphaned, which rules are not judged.
 */
export function planHeader(plan: Plan, screen: Screen): string {
  const { inputs } = plan
  const { paint } = screen
  const rows: readonly Line[] = [
    { label: 'Node', ...nodeText(plan, paint) },
    { label: 'Root', text: `${plan.rootDir} (${count(inputs.actual.mounts, 'mount')} in the mount table)` },
    { label: 'API', ...apiText(inputs.api, paint) },
    { label: 'Kubelet', ...kubeletText(inputs.kubelet, paint) },
    { label: 'Runtime', text: `${inputs.runtime.source}, ${count(inputs.runtime.pods, 'pod')}` },
    { label: 'Pods', ...podsText(inputs, paint) },
    ...inputs.unjudged.map(({ message }) => ({ label: 'Not judged', text: message, colour: paint.warn })),
  ]
  return headerText(rows, screen)
}

export function headerText(rows: readonly Line[], { width }: Screen): string {
  return rows.map(({ label, text, colour }) => wrapped(`${label}:`.padEnd(12), text, width, colour)).join('')
}

interface Line {
  readonly label: string
  readonly text: string
  /** Of the whole text: what a person must not overlook. */
  readonly colour?: ((text: string) => string) | undefined
}

type Text = Omit<Line, 'label'>

function nodeText({ node, bootID, inputs: { machine } }: Plan, paint: Palette): Text {
  const differs = (machine.contradictions ?? []).map(({ field, accepted }) => (accepted ? `${field}, accepted` : field))
  const but = differs.length === 0 ? '' : `; different: ${differs.join('; ')}`
  const matches = machine.matches
    ? `matches the Node object${but}`
    : `NOT proven to be the machine of this Node object${but}`
  const boot = machine.bootID ?? bootID
  return {
    text: `${node} (${matches}${boot === undefined ? '' : `; boot ${boot}`})`,
    colour: machine.matches ? (but === '' ? undefined : paint.warn) : paint.bad,
  }
}

/** Which server, as whom, and why another could have answered. */
export function apiText(api: PlanInputs['api'], paint: Palette): Text {
  const user = api.user === undefined ? '' : ` as ${api.user}`
  const version = api.resourceVersion === undefined ? '' : `, pods at resource version ${api.resourceVersion}`
  const server = `${api.server === '' ? 'not read' : api.server}${user}${version}`
  const doubts = apiDoubts(api)
  return doubts.length === 0 ? { text: server } : { text: `${server} (${doubts.join('; ')})`, colour: paint.bad }
}

function kubeletText({ state, note, unit }: PlanInputs['kubelet'], paint: Palette): Text {
  const more = note ?? unit
  return {
    text: `${KUBELET_STATES[state]}${more === undefined ? '' : ` (${more})`}`,
    colour: state === 'stopped' ? undefined : paint.warn,
  }
}

function podsText({ pods, actual }: PlanInputs, paint: Palette): Text {
  const text = [
    `${pods.listed} in the API`,
    count(actual.podDirs, 'pod directory', 'pod directories'),
    `${pods.gone} orphaned`,
  ].join(', ')
  return { text, colour: pods.gone > 0 ? paint.bold : undefined }
}

// A cluster's plan on a screen: the answer; with -v and `-o wide` each operation with what it rests on, each wait and each problem.

interface ClusterPlanLook {
  readonly context: CommandContext
  /** Apply is about to ask. */
  readonly asks?: true
  /** Nothing is folded. */
  readonly unfolded: boolean
}

/** The whole answer of `volctl plan --cluster`. */
export function renderClusterPlan(plan: ClusterPlan, screen: Screen, look: ClusterPlanLook): string {
  const full = look.unfolded || screen.wide
  const answer = clusterAnswerOf(plan, look.context, look.asks)
  return renderAnswer(answer, screen, {
    unfolded: full,
    header: full || look.asks ? header(plan, screen) : undefined,
    more: full ? [clusterOperationsTable(plan, screen)].filter((part) => part !== '') : [],
  })
}

/** S31: which cluster, as whom, who else acts, and how much was seen. */
function header({ cluster, inputs }: ClusterPlan, screen: Screen): string {
  const { api, controller, unjudged } = inputs
  const { paint } = screen
  return headerText(
    [
      { label: 'Cluster', ...apiText({ ...api, server: cluster.server }, paint) },
      {
        label: 'Controller',
        text: `the attach/detach controller ${CONTROLLER[controller.state]}: ${controller.note}`,
        colour: controller.state === 'dead' ? paint.warn : undefined,
      },
      { label: 'Seen', text: `${seenText(inputs)}, ${count(inputs.counts.inUse, 'volume')} in use on nodes` },
      ...unjudged.map(({ message }) => ({ label: 'Not judged', text: message, colour: paint.warn })),
    ],
    screen,
  )
}
