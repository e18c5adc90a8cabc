/** --only, --skip, --pod, --volume, --max: what depends on something left out is left out too, and counted (contract). */

import type { Draft } from '../../plan/draft.ts'
import type { PlanOptions, VolumeRef } from '../../plan/plan.ts'
import { namespacedName } from '../../plan/pod-name.ts'

/** @returns the drafts that stay, in order, and how many were left out */
export function filterOperations(drafts: readonly Draft[], options: PlanOptions): { kept: Draft[]; filtered: number } {
  const dropped = new Set<Draft>()
  const kept: Draft[] = []
  for (const draft of drafts) {
    const fits = chosen(draft, options) && !draft.after.some((before) => dropped.has(before))
    if (fits && (options.max === undefined || kept.length < options.max)) kept.push(draft)
    else dropped.add(draft)
  }
  return { kept, filtered: dropped.size }
}

function chosen(draft: Draft, options: PlanOptions): boolean {
  const { only, skip } = options
  if (only !== undefined && !only.includes(draft.kind)) return false
  return !skip?.includes(draft.kind) && isNamed(draft, options)
}

/** Does what is left by --pod and --volume include this. */
export function isNamed(
  draft: Pick<Draft, 'pod' | 'volume'>,
  { pods, volumes }: Pick<PlanOptions, 'pods' | 'volumes'>,
): boolean {
  if (pods !== undefined && pods.length > 0) {
    const { pod } = draft
    if (pod === undefined) return false
    const name = namespacedName(pod)
    if (!pods.some((each) => each === pod.uid || each === name)) return false
  }
  if (volumes !== undefined && volumes.length > 0) {
    const { volume } = draft
    if (volume === undefined) return false
    const names = namesOf(volume)
    if (!volumes.some((each) => names.includes(each))) return false
  }
  return true
}

/** What `--volume` takes. */
export function namesOf(volume: VolumeRef): (string | undefined)[] {
  const { name, podVolumeName, uniqueName, handle, persistentVolume, claim } = volume
  return [name, podVolumeName, uniqueName, handle, persistentVolume, claim]
}
