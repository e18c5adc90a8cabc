/**
 * A plan on a screen: the answer. `confirm` adds what S31 asks for before anyone says yes; -v and `-o wide` the numbered table
 * of all operations, waits and problems.
 */

import { omitUndefined } from '../base/collections.ts'
import { alike, count, present } from '../base/text.ts'
import type { AnyPlan, ClusterPlan } from '../plan/cluster-plan.ts'
import { type CommandContext, kubeletText } from '../plan/commands.ts'
import { apiDoubts } from '../plan/insecure-api.ts'
import { podTextIn, shownVolume } from '../plan/names.ts'
import type { Operation, Plan, PlanInputs, VolumeRef } from '../plan/plan.ts'
import { podName } from '../volumes/pods.ts'
import { few, withoutRoot } from './answer/answer.ts'
import { CONTROLLER, clusterAnswerOf, seenText } from './answer/cluster-answer.ts'
import { answerOf } from './answer/make-answer.ts'
import { renderAnswer } from './answer-view.ts'
import { type Cell, type Column, columnsTable } from './columns-table.ts'
import { operationsTable } from './operations-table.ts'
import { type Palette, type Screen, wrapped } from './screen.ts'

export interface PlanDetail {
  /** Before apply asks: what a person must have seen (S31). */
  readonly confirm?: boolean
  /** Of the commands that are proposed for a cluster. */
  readonly context?: CommandContext
  /** -v: nothing is folded. */
  readonly unfolded?: boolean
  /** The plan is a snapshot's, maybe of another machine. */
  readonly elsewhere?: boolean
}

export function renderPlan(
  plan: AnyPlan,
  screen: Screen,
  { confirm = false, unfolded = false, elsewhere, context = { applyFlags: [] } }: PlanDetail = {},
): string {
  const full = unfolded || screen.wide
  const header = full || confirm ? planHeader(plan, screen) : undefined
  if ('cluster' in plan)
    return renderAnswer(clusterAnswerOf(plan, context, confirm), screen, {
      unfolded: full,
      header,
      more: [full && operationsTable(plan, podName, screen)],
    })
  const podText = podTextIn(plan)
  const answer = answerOf(plan, podText)
  // Before a question the question is the next step.
  const asks = confirm && (plan.summary.ready ?? 0) > 0
  return renderAnswer(asks ? { ...answer, next: [] } : answer, screen, {
    unfolded: full,
    header,
    more: [
      full && operationsTable(plan, podText, screen),
      (full || confirm) && volumesText(plan.operations, screen),
      confirm && insteadText(plan, screen),
    ],
    place: elsewhere ? plan.node : undefined,
  })
}

/** S31: what the kubelet would have done instead, where it differs. */
function insteadText({ operations, rootDir }: Plan, { width }: Screen): string {
  const does = ({ kubeletWould }: Operation): string | undefined => kubeletWould
  const named = ({ pod, volume, paths }: Operation): string =>
    volume === undefined ? withoutRoot(paths[0] ?? '', rootDir) : shownVolume({ volume, pod })
  return alike(operations.filter(does), does)
    .map((all) => wrapped('', `The kubelet would ${does(all[0])}: ${few(all.map(named))}`, width))
    .join('')
}

/** What is known of each volume that the plan acts on, once per volume (S31). */
function volumesText(operations: readonly Operation[], screen: Screen): string {
  const volumes = new Map<string, VolumeRef>()
  for (const { volume, pod } of operations) {
    const { claim, persistentVolume, driver, device } = { ...volume }
    if (volume === undefined || (claim ?? persistentVolume ?? driver ?? device) === undefined) continue
    const key = volume.persistentVolume ?? volume.uniqueName ?? `${pod?.uid}/${volume.name}`
    volumes.set(key, { ...volume, ...omitUndefined({ ...volumes.get(key) }) })
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
    head,
    stays: -index,
    cell: (volume: VolumeRef, screen: Screen) => cell(volume, screen) ?? '',
  })),
]

function yesNo(value: boolean | undefined): string {
  return value === undefined ? '' : value ? 'yes' : 'no'
}

/** What a person must have seen before saying yes (S31). */
function planHeader(plan: AnyPlan, { width, paint }: Screen): string {
  const rows = 'cluster' in plan ? clusterRows(plan, paint) : nodeRows(plan, paint)
  return [...rows, ...plan.inputs.unjudged.map(({ message }): Line => ['Not judged', message, paint.warn])]
    .map(([label, text, colour]) => wrapped(`${label}:`.padEnd(12), text, width, colour))
    .join('')
}

/** Which cluster, as whom, who else acts, and how much was seen. */
function clusterRows({ cluster: { server }, inputs }: ClusterPlan, paint: Palette): readonly Line[] {
  const { api, controller, counts } = inputs
  const { state, note } = controller
  const acts = `the attach/detach controller ${CONTROLLER[state]}: ${note}`
  return [
    ['Cluster', ...apiText({ ...api, server }, paint)],
    ['Controller', acts, state === 'dead' ? paint.warn : undefined],
    ['Seen', `${seenText(inputs)}, ${count(counts.inUse, 'volume')} in use on nodes`],
  ]
}

/** Which cluster and as whom, is this the machine that the Node object describes, what does the kubelet do, and orphaned pods. */
function nodeRows(plan: Plan, paint: Palette): readonly Line[] {
  const { actual, api, kubelet, runtime, pods } = plan.inputs
  const directories = count(actual.podDirs, 'pod directory', 'pod directories')
  return [
    ['Node', ...nodeText(plan, paint)],
    ['Root', `${plan.rootDir} (${count(actual.mounts, 'mount')} in the mount table)`],
    ['API', ...apiText(api, paint)],
    ['Kubelet', kubeletText(kubelet, true), kubelet.state === 'stopped' ? undefined : paint.warn],
    ['Runtime', `${runtime.source}, ${count(runtime.pods, 'pod')}`],
    [
      'Pods',
      `${pods.listed} in the API, ${directories}, ${pods.gone} orphaned`,
      pods.gone > 0 ? paint.bold : undefined,
    ],
  ]
}

/** Text, and its colour: what a person must not overlook. */
type Text = readonly [text: string, colour?: (text: string) => string]
type Line = readonly [label: string, ...Text]

function nodeText({ node, bootID, inputs: { machine } }: Plan, paint: Palette): Text {
  const { matches, contradictions = [], bootID: boot = bootID } = machine
  const differs = contradictions.map(({ field, accepted }) => (accepted ? `${field}, accepted` : field))
  const parts = present(
    matches ? 'matches the Node object' : 'NOT proven to be the machine of this Node object',
    differs.length > 0 && `different: ${differs.join('; ')}`,
    boot && `boot ${boot}`,
  )
  const doubt = differs.length === 0 ? undefined : paint.warn
  return [`${node} (${parts.join('; ')})`, matches ? doubt : paint.bad]
}

/** Which server, as whom, and why another could have answered. */
function apiText(api: PlanInputs['api'], paint: Palette): Text {
  const user = api.user === undefined ? '' : ` as ${api.user}`
  const version = api.resourceVersion === undefined ? '' : `, pods at resource version ${api.resourceVersion}`
  const server = `${api.server || 'not read'}${user}${version}`
  const doubts = apiDoubts(api)
  return doubts.length === 0 ? [server] : [`${server} (${doubts.join('; ')})`, paint.bad]
}
