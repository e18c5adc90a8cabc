/**
 * Every volume of a node as the kubelet's volume manager knows it, and what is wrong with it: from the same look, and by the same pass,
 * as a plan. Pure.
 *
 * What the kubelet's GetMountedVolumesForPod, GetPossiblyMountedVolumesForPod, GetVolumesInUse and VolumeIsAttached would answer is in
 * `mounted`, `inUse.computed` and `attach.attached` of the rows (R314, R330, R814).
 */

import { compareText, counted } from '../../base/text.ts'
import { isWithin } from '../../linux/paths.ts'
import { type NameFault, type Naming, requireNamed } from '../../plan/names.ts'
import { type AdviceContext, withAdvice } from '../../plan/next-steps.ts'
import { partOf } from '../../plan/part-of-plan.ts'
import type { Plan, PlanOptions } from '../../plan/plan.ts'
import {
  isAmong,
  type Narrowing,
  namedPods,
  namedVolumes,
  namesOf,
  unmatchedAmong,
} from '../../reconcile/filter-operations.ts'
import type { Decided } from '../../reconcile/plan-node.ts'
import { podListIsComplete, sectionUnseen } from '../../rules/pods/pod-classes.ts'
import type { ActualInputs } from '../../volumes/on-disk/actual-inputs.ts'
import { podName } from '../../volumes/pods.ts'
import { type AnyPart, allParts } from '../volume-part.ts'
import { findingsOf, rankOf } from './row-verdict.ts'
import type { Status, StatusRow } from './status.ts'
import { statusRow } from './status-row.ts'

/** The options of a plan of the whole node. */
export function wholeOf({ pods: _, namespaces: __, volumes: ___, ...whole }: PlanOptions): PlanOptions {
  return whole
}

/**
 * @param decided of the whole node @param options what they narrow is left out of the answer, and changes no verdict
 * @param given what the next steps go by
 * @throws VolctlError NothingNamed, AmbiguousName
 */
export function statusAndPlan(
  decided: Decided,
  options: PlanOptions,
  naming: Naming,
  given: AdviceContext,
): StatusAndPlan {
  const whole = wholeStatus(decided)
  requireNamed(unmatchedNames(whole, options), naming)
  return statusOf(whole, narrowed(whole, options), given)
}

export type WholeStatus = ReturnType<typeof wholeStatus>

/** Every row of a node, the worst first. */
export function wholeStatus(decided: Decided) {
  const { context } = decided
  const { inputs: seen } = context
  const sources = allParts(context)
  const found = findingsOf(sources, decided)
  // A node that was seen only in part is not planned (S3): that the plan is empty says nothing then.
  const unjudged = sectionUnseen(seen) ?? (podListIsComplete(seen) ? undefined : 'the pod list may be incomplete')
  const sourceOf = new Map(sources.map((source) => [statusRow(context, source, found, unjudged), source] as const))
  // Of what is as bad as another: pods by their names, then the node's own part.
  const all: readonly StatusRow[] = [...sourceOf.keys()].toSorted(
    (a, b) => rankOf(a.verdict.state) - rankOf(b.verdict.state) || compareText(sortKey(a), sortKey(b)),
  )
  /** The plan as far as it is about these rows. */
  const planOf = (rows: readonly StatusRow[]): Plan => {
    if (rows.length === all.length) return decided.plan
    const own = rows.flatMap((row) => {
      const { operations, waiting, problems } = found.of(sourceOf.get(row) as AnyPart)
      return [...operations, ...waiting, ...problems]
    })
    return partOf(decided.plan, new Set<object>(own))
  }
  return { decided, all, sourceOf, planOf, unassigned: found.unassigned }
}

export type StatusAndPlan = ReturnType<typeof statusOf>

/** The status of some rows, and the plan as far as it is about them. @param given what the next steps go by */
export function statusOf(
  { decided, all, planOf, unassigned }: WholeStatus,
  rows: readonly StatusRow[],
  given: AdviceContext,
) {
  const plan = withAdvice(planOf(rows), given)
  const { node, rootDir, bootID, createdAt, volctlVersion, complete, refused, inputs } = plan
  const { causes, next } = plan.summary
  const status: Status = {
    apiVersion: 'volctl.io/v1',
    kind: 'Status',
    node,
    rootDir,
    bootID,
    createdAt,
    volctlVersion,
    kubelet: inputs.kubelet,
    rows: [...rows],
    problems: unassigned,
    summary: {
      volumes: rows.length,
      verdicts: verdictsOf(rows),
      orphanedPods: decided.context.classes.gone.length,
      filtered: all.length - rows.length,
    },
    complete,
    refused,
    causes,
    next,
  }
  return { status, plan }
}

/** How many rows have each. */
export function verdictsOf(rows: readonly StatusRow[]) {
  return counted(rows.map(({ verdict }) => verdict.state))
}

function sortKey({ pod, podVolumeNames: [called], volume }: StatusRow): string {
  return `${pod === undefined ? '1' : `0${podName(pod)} ${pod.uid}`} ${called ?? volume.name} ${volume.uniqueName ?? ''}`
}

// --pod, --namespace and --volume: rows are left out, and the verdicts of the others stay what they are.

/** Rows of named pods and volumes, and what the node has of the volumes of those pods. */
export function narrowed({ decided, all, sourceOf }: WholeStatus, narrowing: Narrowing): StatusRow[] {
  const { classes, inputs, ledger } = decided.context
  const { pods, namespaces = [] } = narrowing
  const volumes = namedVolumes(inputs, ledger, narrowing.volumes ?? [])
  const uids = pods && new Set(namedPods(narrowing, classes).pods)
  const isNamed = ({ pod }: StatusRow): boolean =>
    pod !== undefined &&
    (uids === undefined || uids.has(pod.uid)) &&
    (namespaces.length === 0 || namespaces.includes(pod.namespace ?? 'default'))
  const isOfVolume = (row: StatusRow): boolean =>
    volumes.length === 0 || isAmong(namesOfRow(row), pathsOf(inputs, sourceOf.get(row)), volumes)
  const narrowsPods = uids !== undefined || namespaces.length > 0
  const theirs = new Set(all.filter(isNamed).flatMap(({ volume }) => volume.uniqueName ?? []))
  return all.filter(
    (row) =>
      isOfVolume(row) &&
      (!narrowsPods || isNamed(row) || (row.pod === undefined && theirs.has(row.volume.uniqueName ?? ''))),
  )
}

/** The pod's directories of the volume, or the node's own. */
function pathsOf(inputs: ActualInputs, part: AnyPart | undefined): string[] {
  const { volume, pod } = part ?? {}
  const isOwn = (path: string): boolean =>
    pod === undefined ? !isWithin(path, 'pods') : isWithin(path, `pods/${pod.uid}`)
  return (volume?.directories ?? []).filter(isOwn).map((path) => inputs.absolute(path))
}

/** Names that nothing has, or several pods. */
export function unmatchedNames({ decided, all }: WholeStatus, narrowing: Narrowing): NameFault[] {
  return unmatchedAmong(decided.context, narrowing, () => all.flatMap(namesOfRow))
}

function namesOfRow({ volume, podVolumeNames }: StatusRow): string[] {
  return [...podVolumeNames, ...namesOf(volume)]
}
