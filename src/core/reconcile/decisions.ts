/**
 * Why each thing on the node is acted on or left alone, one line each, with the rule: -v prints these lines, explain uses
 * them.
 */

import { podVolumePlaces } from '../actual/pod-volumes.ts'
import { compareText } from '../lang/compare-text.ts'
import { defined } from '../lang/defined.ts'
import type { NodeState } from '../model/node-state.ts'
import type { Left } from '../plan/draft.ts'
import type { Operation, Plan, PlanOptions } from '../plan/plan.ts'
import { pluginNamed } from '../plugins/registry.ts'
import type { PlanContext } from './context/context.ts'
import { leftUnread, unreadParts } from './context/unread.ts'
import { decideNode } from './plan-node.ts'
import type { PodClass } from './pods/pod-classes.ts'
import { isLiving } from './pods/volume-users.ts'

/** The form in which phases report what they leave, used for pods and operations as well. */
export type Decision = Left

export interface Decided {
  readonly plan: Plan
  readonly context: PlanContext
  /** For every pod, volume, map, staging directory, global mount and attachment, in the order of their paths. */
  readonly decisions: readonly Decision[]
}

/** The plan and the reasons for it, from the same pass. Pure, like the plan itself. */
export function planWithDecisions(state: NodeState, options: PlanOptions): Decided {
  const left: Left[] = []
  const { plan, context } = decideNode(state, options, left)
  const decisions = [
    ...left,
    ...context.classes.all.map((pod) => podDecision(context, pod)),
    ...context.classes.all.filter(isLiving).flatMap((pod) => keptVolumes(context, pod)),
    ...context.blocks.flatMap((block) => keptMaps(context, block)),
    ...plan.operations.map(operationDecision),
    ...unreadDecisions(context, left),
  ]
  return { plan, context, decisions: decisions.toSorted((a, b) => compareText(a.path, b.path)) }
}

function podDecision({ inputs }: PlanContext, pod: PodClass): Decision {
  const [rule, why] = podVerdict(pod)
  return { path: inputs.absolute(`pods/${pod.uid}`), rule, why, pod: pod.uid }
}

/** Why the volumes and directories of a pod may be touched, or not. */
export function podVerdict(pod: PodClass): [rule: string, why: string] {
  switch (pod.class) {
    case 'Desired':
      return ['S5', 'the pod is in the API and should run; it keeps its volumes']
    case 'Frozen':
      return ['S9', `the pod is left alone: ${pod.why?.message ?? 'in doubt'}`]
    case 'Finished':
      return [
        'R220',
        'the pod has ended, with no container or process left; its volumes are torn down, its directory stays',
      ]
    case 'Gone':
      return ['R220', 'the pod was deleted from the API; no sandbox, container or process is left']
  }
}

/** Volumes that a pod that must not be disturbed has on disk but does not want: no phase examines them (S5, S9). */
function keptVolumes(context: PlanContext, pod: PodClass): Decision[] {
  const { inputs, desired } = context
  const wanted = new Set(
    desired.volumes
      .filter(({ podUid }) => podUid === pod.uid && pod.class === 'Desired')
      .map((volume) => inputs.absolute(pluginNamed(volume.plugin).podPath(volume))),
  )
  return podVolumePlaces(inputs, pod.uid)
    .map(({ target }) => inputs.absolute(target))
    .filter((path) => !wanted.has(path))
    .map((path) => kept(pod, path))
}

function keptMaps({ inputs, classes }: PlanContext, { mappings }: PlanContext['blocks'][number]): Decision[] {
  return mappings.flatMap(({ podUid, mapFile, publishPath, symlink }) => {
    const pod = classes.of(podUid)
    const path = mapFile ?? publishPath ?? symlink
    return pod === undefined || path === undefined || !isLiving(pod) ? [] : [kept(pod, inputs.absolute(path))]
  })
}

function kept(pod: PodClass, path: string): Decision {
  const [rule, why] = podVerdict(pod)
  return { path, rule, why: `pod ${pod.uid} has this volume: ${why}`, pod: pod.uid }
}

/** S3: what could not be read is left alone. */
function unreadDecisions({ inputs }: PlanContext, left: readonly Left[]): Decision[] {
  const said = new Set(left.filter(({ obstacle }) => obstacle !== undefined).map(({ path }) => path))
  return unreadParts(inputs)
    .filter(({ path }) => !said.has(inputs.absolute(path)))
    .map(({ path, obstacle }) => {
      const [top, pod] = path.split('/')
      return {
        path: inputs.absolute(path),
        ...leftUnread(obstacle),
        ...defined({ pod: top === 'pods' ? pod : undefined }),
      }
    })
}

function operationDecision({ kind, paths, steps, rule, blocked, message, pod, volume }: Operation): Decision {
  return {
    path: paths[0] ?? steps[0]?.target ?? '',
    rule,
    why: `${kind}${blocked ? `, blocked: ${blocked.message}` : ''}: ${message}`,
    pod: pod?.uid,
    volume: volume?.uniqueName,
  }
}
