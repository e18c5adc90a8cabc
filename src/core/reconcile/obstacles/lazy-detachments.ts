/** S20: nothing is done to a volume whose file system was detached lazily, until its superblock is gone. */
import { baseName } from '../../actual/tree.ts'
import { isWithin } from '../../files/path-within.ts'
import type { LazyMemoryDefect } from '../../model/snapshot.ts'
import type { Draft, Findings, Obstacle, Rule } from '../../plan/draft.ts'
import type { OperationKind, Step, VolumeRef } from '../../plan/plan.ts'
import type { PlanContext } from '../context/context.ts'

/**
 * What of these operations is on a path that was detached lazily, or is of the same volume: its device and its attachment
 * are on other paths.
 */
export function lazilyDetachedRule({ inputs: { snapshot } }: PlanContext, drafts: readonly Draft[]): Rule {
  const all = (snapshot.lazilyDetached ?? []).map((detached) => {
    const onPath = new Set(drafts.filter((draft) => concerns(draft, detached.path)))
    const names = new Set([detached.volume, ...[...onPath].map(({ volume }) => nameOf(volume))])
    names.delete(undefined)
    return { detached, onPath, names }
  })
  return (draft) => {
    const found = all.findLast(({ onPath, names }) => onPath.has(draft) || names.has(nameOf(draft.volume)))
    if (found === undefined) return undefined
    const { path, dev } = found.detached
    return {
      code: 'DetachedLazily',
      message: `${path} was detached lazily by an earlier apply, and its file system (${dev}) may still be in use`,
      hint: 'Stop the processes that still use it, or reboot; then plan again.',
    }
  }
}

/** That the memory of lazy unmounts cannot be read is said once, and of every operation that it holds. */
export function reportLazyMemory({ inputs: { snapshot } }: PlanContext, findings: Findings): void {
  const { lazyMemory } = snapshot
  if (lazyMemory === undefined) return
  findings.complete = false
  findings.problem('error', 'LazyMemoryUnusable', unknownBy(lazyMemory), { path: lazyMemory.path }, hintOf(lazyMemory))
}

/**
 * What was detached lazily is unknown, and unknown is not "nothing": it may be any volume. Devices stay where they are,
 * and no driver is asked to undo a volume that is no longer mounted. A mount that is still there may go.
 */
export function lazyMemoryObstacle({ inputs: { snapshot } }: PlanContext, draft: Draft): Obstacle | undefined {
  const { lazyMemory } = snapshot
  if (lazyMemory === undefined || !letsGo(draft)) return undefined
  return {
    code: 'LazyMemoryUnusable',
    message: `${unknownBy(lazyMemory)}; this volume may be one of them`,
    hint: hintOf(lazyMemory),
  }
}

function unknownBy({ path, why }: LazyMemoryDefect): string {
  return `it is not known what earlier applies detached lazily: ${path} cannot be trusted or read: ${why}`
}

function hintOf({ path, why }: LazyMemoryDefect): string {
  return why === 'permission denied'
    ? 'Only root may read it: use sudo.'
    : `Look at ${path}, and at who else may write there. Give it back to root (chown, chmod go-w), or remove it if nothing was detached lazily since this boot; then plan again.`
}

const OF_DEVICES: readonly OperationKind[] = ['UnmapVolume', 'UnmountDevice', 'UnmapDevice', 'DetachVolume']

function letsGo({ kind, steps, removes }: Draft): boolean {
  return OF_DEVICES.includes(kind) || (removes.size === 0 && steps.some(forgets))
}

/** The driver lets go of the volume, or the record of it goes. */
function forgets({ op, target }: Step): boolean {
  return (
    op === 'NodeUnpublishVolume' || op === 'flexUnmount' || (op === 'unlink' && baseName(target) === 'vol_data.json')
  )
}

function concerns({ paths }: Draft, path: string): boolean {
  return paths.some((each) => isWithin(each, path) || isWithin(path, each))
}

function nameOf(volume: VolumeRef | undefined): string | undefined {
  return volume?.uniqueName ?? volume?.name
}
