import { omitUndefined } from '../base/omit-undefined.ts'
import { sha256Hex } from '../facts/actual/volume-names.ts'
import type { ClusterOperation, ClusterPlan } from './cluster-plan.ts'
import type { Operation, ReviewedPlan } from './plan.ts'

type ReviewedCluster = Pick<ClusterPlan, 'cluster' | 'operations'>

/**
 * The id of a plan in the journal: the same for its saved file, and for another plan of the same state. Of a cluster's plan it is also
 * the digest that a person repeats before finalizers are taken off.
 */
export function planId(plan: ReviewedPlan | ReviewedCluster): string {
  const about =
    'cluster' in plan
      ? ['cluster', plan.cluster.uid ?? plan.cluster.server, plan.operations.map(aboutClusterOperation)]
      : [plan.scope, plan.node, plan.rootDir, plan.bootID, plan.operations.map(aboutOf)]
  return sha256Hex(JSON.stringify(about)).slice(0, 12)
}

/** Only lists, in a fixed order: a plan may have 100,000 operations, and sorting their fields takes seconds. */
function aboutOf({ id, kind, pod, volume, paths, steps, after, blocked, attachment }: Operation): unknown {
  const { uniqueName, driver, handle, device } = volume ?? {}
  return [
    ...[id, kind, pod?.uid, uniqueName, driver, handle, device, blocked?.code, attachment?.uid],
    ...[paths, after, steps.map(({ op, target, detail, source, options }) => [op, target, detail, source, options])],
  ]
}

/** Does it take off finalizers, so that its digest has to be repeated? */
export function stripsFinalizers({ operations }: Pick<ClusterPlan, 'operations'>): boolean {
  return operations.some(
    ({ blocked, steps }) => blocked === undefined && steps.some(({ op }) => op === 'removeFinalizers'),
  )
}

/** The plan as it is shown: with its digest, where that has to be repeated. */
export function withDigest({ digest: _, ...plan }: ClusterPlan): ClusterPlan {
  return { ...plan, ...omitUndefined({ digest: stripsFinalizers(plan) ? planId(plan) : undefined }) }
}

/** Lists, in a fixed order. Of an attachment only what it is, since its version changes with each word of its attacher. */
function aboutClusterOperation({
  id,
  kind,
  node,
  volume,
  pods,
  steps,
  after,
  blocked,
  attachment,
}: ClusterOperation): unknown {
  const stepTexts = steps.map((step) => [step.op, step.target, ...('finalizers' in step ? step.finalizers : [])])
  const uids = pods.map(({ uid }) => uid)
  return [id, kind, node, volume.uniqueName, uids, stepTexts, after, blocked?.code, attachment.name, attachment.uid]
}
