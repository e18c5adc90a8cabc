/** A cluster's plan as an answer: the same parts, by volume and node. Pure. */

import { alike, count } from '../../base/text.ts'
import { namespacedName } from '../../kube/api/names.ts'
import type { Cause } from '../../plan/cause.ts'
import type { ClusterOperation, ClusterPlan } from '../../plan/cluster-plan.ts'
import { type CommandContext, type Step, typed, withFlags } from '../../plan/commands.ts'
import { apiDoubts } from '../../plan/insecure-api.ts'
import { refusedStep, SAYS_WHY } from '../../plan/next-steps.ts'
import { podName } from '../../volumes/pods.ts'
import { type Answer, few, type Part, type Row, withAges, withoutRoot } from './answer.ts'
import { waitRows } from './make-answer.ts'
import { inBothScopes } from './needs.ts'
import { verbsOf } from './ready.ts'

/** @param context of the commands that are proposed @param isAtWork the apply that would carry the plan out */
export function clusterAnswerOf(plan: ClusterPlan, context: CommandContext, isAtWork = false): Answer {
  const said = (text: string): string => withAges(withoutRoot(text, ''), plan.createdAt)
  // How stands what was named: the name of each volume, and one sentence.
  const { operations, waiting, stands = [] } = plan
  const { answer, passes } = inBothScopes(
    { ...plan, summary: withFlags(plan.summary, context) },
    { podText: podName, said },
  )
  return {
    ...answer,
    headline: headlineOf(plan),
    doubts: doubtsOf(plan),
    parts: [
      {
        name: 'As it stands',
        rows: stands.map(({ message, about: { volume, claim } }) => ({
          text: said(message),
          label: volume?.claim ?? volume?.name ?? claim,
        })),
      },
      readyPart(operations.filter(({ blocked }) => blocked === undefined)),
      {
        name: 'Left to others',
        rows: waitRows(
          waiting.filter(passes),
          ({ volume, attachment, node }) => `${volume?.name ?? attachment ?? '?'} on ${node}`,
          ({ message }) => said(message),
        ),
      },
    ],
    next: stepsOf(plan, !isAtWork).map((step) => typed(step, context)),
  }
}

/** How the attach/detach controller is. */
export const CONTROLLER = { lives: 'runs', mayLive: 'may run', dead: 'does not run' } as const

/** `https://…: controller does not run; 2 nodes, 12 pods, 3 VolumeAttachments`. */
function headlineOf({ cluster, inputs }: ClusterPlan): string {
  const { state, note } = inputs.controller
  const why = state === 'lives' ? '' : ` (${note})`
  return `${cluster.server}: controller ${CONTROLLER[state]}${why}; ${seenText(inputs)}`
}

/** How much of the cluster the plan is about. */
export function seenText({ counts, lists }: ClusterPlan['inputs']): string {
  const attachments = lists.volumeattachments?.count ?? counts.attachments
  return `${count(counts.nodes, 'node')}, ${count(counts.pods, 'pod')}, ${count(attachments, 'VolumeAttachment')}`
}

function doubtsOf({ inputs: { api, unjudged } }: ClusterPlan): string[] {
  return [
    ...apiDoubts(api).map((each) => `API server: ${each}`),
    ...unjudged.map(({ message }) => `Not judged: ${message}`),
  ]
}

/** A row a node: what is done with which volumes, and what a person has to make sure of before. */
function readyPart(operations: readonly ClusterOperation[]): Part {
  const rows = alike(operations, ({ node, kind }) => `${node} ${kind}`).map((mine): Row => {
    const [{ node, message }, ...others] = mine
    const why = others.length === 0 ? `: ${message}` : ''
    return { label: node, text: `${verbsOf(mine)} ${few(mine.map(({ volume }) => volume.name))}${why}` }
  })
  const sure = new Set(operations.flatMap(({ makeSure }) => makeSure ?? []))
  return {
    name: 'Ready',
    title: `${verbsOf(operations)} (${count(operations.length, 'operation')})`,
    rows: [...rows, ...[...sure].map((text): Row => ({ label: 'make sure', text, loss: true }))],
  }
}

/** @param applies the plan can still be carried out */
function stepsOf(plan: ClusterPlan, applies: boolean): Step[] {
  const { operations, refused, summary, stands } = plan
  if (refused !== undefined) return [refusedStep(refused)]
  const isReady = applies && operations.some(({ blocked }) => blocked === undefined)
  const apply: Step[] = isReady ? [{ argv: ['volctl', 'apply'], why: 'asks first' }] : []
  const lifts = causeSteps(summary.causes ?? [], stands !== undefined)
  // What is only a warning can wait until after the apply.
  const isPressing = summary.causes?.[0]?.severity === 'error'
  return [...apply, ...(apply.length === 0 || isPressing ? lifts : [])]
}

/** What lifts the cause on top, or says more of it. @param isNamed the plan is of a name: what the name stands for it has said */
function causeSteps(causes: readonly Cause[], isNamed: boolean): Step[] {
  const pressing = causes.filter(({ severity }) => severity !== 'info')
  const lift = pressing.find(({ command }) => command?.first !== undefined)?.command
  if (lift !== undefined) return [{ ...lift, flags: 'read', why: 'shows what that allows' }]
  const [worst = causes.find(({ affects }) => affects.waiting > 0)] = pressing
  if (worst === undefined) return []
  const name = isNamed ? [] : nameOf(worst)
  if (name.length === 0) return [{ argv: ['volctl', 'explain', worst.code], flags: 'none', why: SAYS_WHY }]
  return [{ argv: ['volctl', 'plan', '--cluster', ...name], flags: 'read', why: SAYS_WHY }]
}

/** Words by which `plan --cluster` takes what a cause is about; none for what has no volume. */
function nameOf({ subject: { pod, volume, claim, attachment, nodes = [] } }: Cause): readonly string[] {
  if (pod?.name !== undefined) return [namespacedName(pod)]
  if (volume !== undefined) return [`volume/${volume}`]
  if (claim !== undefined) return [`pvc/${claim}`]
  return attachment === undefined ? nodes.flatMap((node) => ['--node', node]) : [`va/${attachment}`]
}
