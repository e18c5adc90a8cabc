/** S20: nothing is done to a volume whose file system was detached lazily, until its superblock is gone. */
import { baseName } from '../../actual/tree.ts'
import { isWithin } from '../../files/path-within.ts'
import type { LazyMemoryDefect } from '../../model/snapshot.ts'
import type { Draft, Findings } from '../../plan/draft.ts'
import type { OperationKind, Step, VolumeRef } from '../../plan/plan.ts'
import type { PlanContext } from '../context/context.ts'

export function blockLazilyDetached({ inputs: { snapshot } }: PlanContext, findings: Findings): void {
  if (snapshot.lazyMemory !== undefined) blockWithoutMemory(snapshot.lazyMemory, findings)
  const drafts = findings.operations
  for (const detached of snapshot.lazilyDetached ?? []) {
    const onPath = drafts.filter((draft) => concerns(draft, detached.path))
    // Its device and its attachment are of the same volume, on other paths.
    const names = new Set([detached.volume, ...onPath.map(({ volume }) => nameOf(volume))])
    names.delete(undefined)
    for (const draft of [...onPath, ...drafts.filter(({ volume }) => names.has(nameOf(volume)))]) {
      draft.blocked = {
        code: 'DetachedLazily',
        message: `${detached.path} was detached lazily by an earlier apply, and its file system (${detached.dev}) is not shown to be gone`,
        hint: 'End what still uses it, or reboot; then plan again.',
      }
    }
  }
}

/**
 * What was detached lazily is not known, and not known is not "nothing": any volume may be one. Devices stay where they
 * are, and no driver is asked to let go of what is not mounted any more. A mount that is still there may go.
 */
function blockWithoutMemory({ path, why }: LazyMemoryDefect, findings: Findings): void {
  const hint =
    why === 'permission denied'
      ? 'It is for root alone: use sudo.'
      : `Look at it, and at who else may write there; make it root's again (chown, chmod go-w), or, where nothing was detached lazily since this boot, remove ${path}. Then plan again.`
  const unknown = `what earlier applies detached lazily is not known: ${path} is not believed, or cannot be read: ${why}`
  findings.complete = false
  findings.problem('error', 'LazyMemoryUnusable', unknown, { path }, hint)
  for (const draft of findings.operations) {
    if (!letsGo(draft)) continue
    draft.blocked ??= { code: 'LazyMemoryUnusable', message: `${unknown}; this volume may be one`, hint }
  }
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
