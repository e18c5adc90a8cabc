/**
 * Why each thing on the node is acted on or left alone, one line each, with the rule: -v prints these lines, explain uses
 * them.
 */

import { memoize } from '../base/collections.ts'
import { compareText } from '../base/text.ts'
import type { Unchanged } from '../plan/draft.ts'
import type { Operation } from '../plan/plan.ts'
import type { PlanContext } from '../rules/context.ts'
import { isLiving, type PodClass } from '../rules/pods/pod-classes.ts'
import { leftUnread, unreadParts } from '../rules/unread.ts'
import { podPathOf } from '../volumes/desired-state.ts'
import { type Subject, THE_NODE } from '../volumes/finding.ts'
import type { Decided } from './plan-node.ts'

/** The form in which phases report what they leave, used for pods and operations as well. */
export type Decision = Unchanged

/** For every pod, volume, map, staging directory, global mount and attachment, in the order of their paths. */
export const decisionsOf = memoize(({ plan, context }: Decided): readonly Decision[] => {
  const { unchanged } = context.findings
  const decisions = [
    ...unchanged,
    ...context.classes.all.map((pod): Decision => {
      const [rule, why] = podVerdict(pod)
      return { path: context.inputs.absolute(`pods/${pod.uid}`), rule, why, subject: { pod: pod.uid } }
    }),
    ...keptParts(context),
    ...plan.operations.map(operationDecision),
    ...unreadDecisions(context, unchanged),
  ]
  return decisions.sort((a, b) => compareText(a.path, b.path))
})

/** Why the volumes and directories of a pod may be touched, or not. */
export function podVerdict({ class: of, why }: PodClass): [rule: string, why: string] {
  return of === 'Frozen' ? ['S9', `the pod is left alone: ${why?.message ?? 'in doubt'}`] : VERDICTS[of]
}

const VERDICTS: Readonly<Record<Exclude<PodClass['class'], 'Frozen'>, [rule: string, why: string]>> = {
  Desired: ['S5', 'the pod is in the API and should run; it keeps its volumes'],
  Finished: [
    'R220',
    'the pod has ended, with no container or process left; its volumes are torn down, its directory stays',
  ],
  Gone: ['R220', 'the pod was deleted from the API; no sandbox, container or process is left'],
}

/** What pods that must not be disturbed have on disk or mapped and do not want: no phase examines it (S5, S9). */
function keptParts({ inputs, classes, desired, blocks, ledger }: PlanContext): Decision[] {
  const wanting = desired.volumes.filter(({ podUid }) => classes.of(podUid)?.class === 'Desired')
  const targets = new Set(wanting.map(podPathOf))
  const kept = (pod: PodClass, path: string, subject: Subject): Decision => {
    const [rule, why] = podVerdict(pod)
    return { path: inputs.absolute(path), rule, why: `pod ${pod.uid} has this volume: ${why}`, subject }
  }
  const volumes = classes.all.filter(isLiving).flatMap((pod) =>
    ledger
      .podVolumes(pod.uid)
      .filter(({ target }) => !targets.has(target))
      .map((volume) => kept(pod, volume.target, ledger.of(volume))),
  )
  const maps = blocks.flatMap((block) =>
    block.mappings.flatMap(({ podUid, mapFile, publishPath, symlink }) => {
      const pod = classes.of(podUid)
      const path = mapFile ?? publishPath ?? symlink
      return pod && path && isLiving(pod) ? kept(pod, path, ledger.of(block, podUid)) : []
    }),
  )
  return [...volumes, ...maps]
}

/** S3: what could not be read is left alone. */
function unreadDecisions({ inputs, ledger }: PlanContext, unchanged: readonly Unchanged[]): Decision[] {
  const said = new Set(unchanged.filter(({ obstacle }) => obstacle !== undefined).map(({ path }) => path))
  return unreadParts(inputs)
    .filter(({ path }) => !said.has(inputs.absolute(path)))
    .map(({ path, obstacle }) => ({
      path: inputs.absolute(path),
      ...leftUnread(obstacle),
      subject: ledger.path(path),
    }))
}

function operationDecision({ kind, paths, steps, rule, blocked, message, subject }: Operation): Decision {
  return {
    path: paths[0] ?? steps[0]?.target ?? '',
    rule,
    why: `${kind}${blocked ? `, blocked: ${blocked.message}` : ''}: ${message}`,
    subject: subject ?? THE_NODE,
  }
}
