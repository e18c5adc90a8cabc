import type { ActualInputs } from '../actual/actual-inputs.ts'
import { Covers } from '../mountinfo/covers.ts'
import type { MountInfo, MountTable } from '../mountinfo/mount-table.ts'
import { goesWith } from '../mountinfo/propagation.ts'
import type { Draft } from './draft.ts'

/** Nothing is done to a mount that another lies over: what its path leads to is something else (S18). */
export function blockCovered({ mounts }: ActualInputs, drafts: readonly Draft[]): void {
  const covers = new Covers(mounts)
  for (const draft of drafts) {
    if (draft.blocked !== undefined) continue
    for (const { path, layers } of draft.expects ?? []) {
      const ids = new Set(layers.map(({ id }) => id))
      const cover = coverOf(mounts, covers, mounts.at(path), ids)
      if (cover === undefined) continue
      draft.blocked = {
        code: 'ForeignMount',
        message: `${cover.fsType} mount of ${cover.source} on ${cover.mountPoint} lies over what is mounted on ${path}: no path leads there`,
        hint: `Find out who mounted it (findmnt ${cover.mountPoint}); unmount it if nothing needs it, then plan again.`,
      }
      break
    }
  }
}

/**
 * Below a shared directory that is bound over itself every mount has a copy that nothing leads to, and that goes with
 * it: only of that the other one is in the way.
 */
function coverOf(
  table: MountTable,
  covers: Covers,
  stacked: readonly MountInfo[],
  ids: ReadonlySet<number>,
): MountInfo | undefined {
  const covered = stacked.filter((mount) => covers.of(mount) !== undefined)
  if (covered.length === 0) return undefined
  const reached = stacked.filter((mount) => !covered.includes(mount))
  const stays = covered.find((mount) => ids.has(mount.id) && !reached.some((each) => goesWith(table, each, mount)))
  return stays && covers.of(stays)
}
