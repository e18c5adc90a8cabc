import type { Step } from '../volumes/steps.ts'
import { sha256Hex } from '../volumes/volume-names.ts'
import type { AnyOperation, ClusterPlan } from './cluster-plan.ts'
import type { Operation, ReviewedPlan } from './plan.ts'

/**
 * The id of a plan in the journal: the same for its saved file, and for another plan of the same state.
 */
export function planId(plan: ReviewedPlan | Pick<ClusterPlan, 'cluster' | 'operations'>): string {
  const of =
    'cluster' in plan
      ? ['cluster', plan.cluster.uid ?? plan.cluster.server]
      : [plan.scope, plan.node, plan.rootDir, plan.bootID]
  return sha256Hex(JSON.stringify([...of, plan.operations.map(aboutOf)])).slice(0, 12)
}

/**
 * Only lists, in a fixed order: a plan may have 100,000 operations, and sorting their fields takes seconds. Of an attachment only what it
 * is, since its version changes with each word of its attacher.
 */
function aboutOf(operation: AnyOperation): unknown {
  const { id, kind, volume, paths, steps, after, blocked, attachment } = operation
  const own =
    'node' in operation
      ? [operation.node, operation.pods.map(({ uid }) => uid), volume?.uniqueName, attachment?.name]
      : [operation.pod?.uid, volume?.uniqueName, volume?.driver, volume?.handle, operation.volume?.device]
  const does = (steps as readonly AnyStep[]).map(({ op, target, detail, source, options }) => {
    return [op, target, detail, source, options]
  })
  return [id, kind, ...own, blocked?.code, attachment?.uid, paths, after, does]
}

/** With the fields that only some ops have. */
type AnyStep = Pick<Step, 'target' | 'detail' | 'source' | 'options'> & { readonly op: string }

/** Joins a look's finding with the operation that it stops: the kind, and what the operation takes away first. */
export function takenBy({ kind, paths, steps }: Pick<Operation, 'kind' | 'paths' | 'steps'>): string {
  return `${kind} ${targetOf({ paths, steps })}`
}

/** The first path, or the object of the API. */
export function targetOf({ paths, steps }: Pick<Operation, 'paths' | 'steps'>): string {
  return paths[0] ?? steps[0]?.target ?? ''
}
