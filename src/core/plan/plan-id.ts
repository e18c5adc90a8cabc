import { sha256Hex } from '../names/volume-names.ts'
import type { Operation, ReviewedPlan } from './plan.ts'

/** The id of a plan in the journal: the same for its saved file, and for another plan of the same state. */
export function planId({ scope, node, rootDir, bootID, operations }: ReviewedPlan): string {
  return sha256Hex(JSON.stringify([scope, node, rootDir, bootID, operations.map(aboutOf)])).slice(0, 12)
}

/** Only lists, in a fixed order: a plan may have 100,000 operations, and sorting their fields takes seconds. */
function aboutOf({ id, kind, pod, volume, paths, steps, after, blocked, attachment }: Operation): unknown {
  const { uniqueName, driver, handle, device } = volume ?? {}
  return [
    ...[id, kind, pod?.uid, uniqueName, driver, handle, device, blocked?.code, attachment?.uid],
    ...[paths, after, steps.map(({ op, target, detail, source, options }) => [op, target, detail, source, options])],
  ]
}
