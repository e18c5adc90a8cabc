import type { ActualInputs } from '../actual/actual-inputs.ts'
import { isWithin } from '../path-within.ts'
import type { VolumeRef } from '../plan/plan.ts'
import type { Draft } from './draft.ts'

/** S20: nothing is done to a volume whose file system was detached lazily, until its superblock is gone. */
export function blockLazilyDetached({ snapshot }: ActualInputs, drafts: readonly Draft[]): void {
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

function concerns({ paths }: Draft, path: string): boolean {
  return paths.some((each) => isWithin(each, path) || isWithin(path, each))
}

function nameOf(volume: VolumeRef | undefined): string | undefined {
  return volume?.uniqueName ?? volume?.name
}
