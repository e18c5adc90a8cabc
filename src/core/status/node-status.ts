/**
 * Every volume of a node as the kubelet's volume manager knows it, and what is wrong with it: from the same look, and by the same pass,
 * as a plan. Pure.
 *
 * What the kubelet's GetMountedVolumesForPod, GetPossiblyMountedVolumesForPod, GetVolumesInUse and VolumeIsAttached would answer is in
 * `mounted`, `inUse.computed` and `attach.attached` of the rows (R314, R330, R814).
 */
import { compareText } from '../lang/compare-text.ts'
import { defined } from '../lang/defined.ts'
import type { NodeState } from '../model/node-state.ts'
import type { Plan, PlanOptions } from '../plan/plan.ts'
import { podName } from '../plan/pod-name.ts'
import { type Decided, planWithDecisions } from '../reconcile/decisions.ts'
import { podListIsComplete, sectionUnseen } from '../reconcile/pods/pod-classes.ts'
import { type Narrowing, narrowed, requireNames } from './narrow.ts'
import { nextCommand } from './next-command.ts'
import { rankOf } from './row-verdict.ts'
import { findingsOf } from './source-findings.ts'
import type { Status, StatusRow, VerdictState } from './status.ts'
import { rowMaker } from './status-row.ts'
import { statusSources } from './status-source.ts'

/**
 * @param options those of a plan; what they narrow is left out of the answer, and changes no verdict
 * @throws VolctlError NothingNamed, AmbiguousName
 */
export function nodeStatus(state: NodeState, options: PlanOptions, ignoreNotFound = false): Status {
  return statusAndPlan(state, options, ignoreNotFound).status
}

/** The same with the plan of the whole node that it was made from. */
export function statusAndPlan(
  state: NodeState,
  options: PlanOptions,
  ignoreNotFound: boolean,
): { readonly status: Status; readonly plan: Plan } {
  const { pods, namespaces, volumes, ...whole } = options
  const decided = planWithDecisions(state, whole)
  const status = statusOf(decided, { ...defined({ pods, namespaces, volumes }), ignoreNotFound })
  return { status, plan: decided.plan }
}

/** The same from a plan that was made for the whole node. */
export function statusOf({ plan, context, decisions }: Decided, narrowing: Narrowing): Status {
  const sources = statusSources(context)
  const parts = findingsOf(sources, plan, decisions)
  const rowOf = rowMaker(context, whyUnjudged(context.inputs))
  const all = sources.map((source) => rowOf(source, parts.of(source))).toSorted(worstFirst)
  requireNames(context, all, narrowing)
  const rows = narrowed(context, all, narrowing)
  const { node, rootDir, bootID, createdAt, volctlVersion, complete, refused, inputs } = plan
  return {
    apiVersion: 'volctl.io/v1',
    kind: 'Status',
    node,
    rootDir,
    ...defined({ bootID }),
    createdAt,
    volctlVersion,
    kubelet: inputs.kubelet,
    rows,
    problems: parts.unassigned,
    summary: {
      volumes: rows.length,
      verdicts: countVerdicts(rows),
      orphanedPods: context.classes.all.filter((pod) => pod.class === 'Gone').length,
      filtered: all.length - rows.length,
    },
    complete,
    ...defined({ next: nextCommand(rows, parts.unassigned, complete), refused }),
  }
}

/** A node that was seen only in part is not planned (S3): that the plan is empty says nothing then. */
function whyUnjudged(inputs: Parameters<typeof sectionUnseen>[0]): string | undefined {
  const unseen = sectionUnseen(inputs)
  if (unseen !== undefined) return unseen
  return podListIsComplete(inputs) ? undefined : 'the pod list may be incomplete'
}

/** Of what is as bad as another: pods by their names, then the node's own part. */
function worstFirst(a: StatusRow, b: StatusRow): number {
  return rankOf(a.verdict.state) - rankOf(b.verdict.state) || compareText(sortKey(a), sortKey(b))
}

function sortKey({ pod, podVolumeNames: [called], volume }: StatusRow): string {
  return `${pod === undefined ? '1' : `0${podName(pod)} ${pod.uid}`} ${called ?? volume.name} ${volume.uniqueName ?? ''}`
}

function countVerdicts(rows: readonly StatusRow[]): Partial<Record<VerdictState, number>> {
  const counts: Partial<Record<VerdictState, number>> = {}
  for (const { verdict } of rows) counts[verdict.state] = (counts[verdict.state] ?? 0) + 1
  return counts
}
