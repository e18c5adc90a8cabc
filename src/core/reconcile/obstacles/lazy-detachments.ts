/** S20: nothing is done to a volume whose file system was detached lazily, until its superblock is gone. */
import { baseName } from '../../actual/tree.ts'
import { isWithin } from '../../files/path-within.ts'
import type { LazyMemoryDefect } from '../../model/snapshot.ts'
import type { Draft, Findings, Obstacle, Rule } from '../../plan/draft.ts'
import type { OperationKind, Step, VolumeRef } from '../../plan/plan.ts'
import type { PlanContext } from '../context/context.ts'

/**
 * Blocks operations on a path that was detached lazily, or on the same volume: its device and its attachment have other
 * paths.
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
      hint: 'Stop what still uses the file system, or reboot; then plan again.',
    }
  }
}

/** Reports once that the record of lazy unmounts cannot be used; every operation that depends on it is blocked as well. */
export function reportLazyMemory({ inputs: { snapshot } }: PlanContext, findings: Findings): void {
  const { lazyMemory } = snapshot
  if (lazyMemory === undefined) return
  findings.complete = false
  const { path } = lazyMemory
  const about = { path, subject: { path } }
  findings.problem('error', 'LazyMemoryUnusable', unknownBy(lazyMemory), about, hintOf(lazyMemory))
}

/**
 * It is unknown what was detached lazily, and unknown is not "nothing": it may be any volume. Devices stay, and no driver is
 * called to tear down a volume that is no longer mounted. A mount that is still there may be unmounted.
 */
export function lazyMemoryObstacle({ inputs: { snapshot } }: PlanContext, draft: Draft): Obstacle | undefined {
  const { lazyMemory } = snapshot
  if (lazyMemory === undefined || !releases(draft)) return undefined
  return {
    code: 'LazyMemoryUnusable',
    message: `${unknownBy(lazyMemory)}; this volume may be one of them`,
    hint: hintOf(lazyMemory),
  }
}

function unknownBy({ path, why }: LazyMemoryDefect): string {
  return `volumes that earlier applies detached lazily are not known, since ${path} cannot be read or is not trusted (${why})`
}

function hintOf({ path, why }: LazyMemoryDefect): string {
  return why === 'permission denied'
    ? `Only root can read ${path}: use sudo.`
    : `Look at ${path}, and at who else may write there; give it back to root (chown root, chmod go-w); then plan again. After a reboot nothing that it may name is left.`
}

const OF_DEVICES: readonly OperationKind[] = ['UnmapVolume', 'UnmountDevice', 'UnmapDevice', 'DetachVolume']

function releases({ kind, steps, removes }: Draft): boolean {
  return OF_DEVICES.includes(kind) || (removes.size === 0 && steps.some(forgets))
}

/** True if the step has the driver release the volume, or removes its record. */
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
