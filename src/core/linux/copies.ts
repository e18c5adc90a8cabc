/** Mounts that the table shows more than once: below a shared directory that is bind-mounted on itself (O35). */
import type { MountInfo, MountTable } from './mount-table.ts'
import { goesWith, propagationKey } from './propagation.ts'

/** Every other mount of the table that goes away with this one. */
export function copiesOf(table: MountTable, mount: MountInfo): MountInfo[] {
  return table.ofDevice(mount.dev).filter((each) => each.id !== mount.id && goesWith(table, mount, each))
}

/**
 * The mounts on a path, without hidden copies that go away with a visible mount: each mount once, however often the table shows
 * it. Other hidden mounts are kept, since they are separate mounts.
 */
export function withoutCopies(table: MountTable, path: string): readonly MountInfo[] {
  const all = table.at(path)
  if (all.length < 2) return all
  const reached = table.reached(path)
  if (reached.length === all.length || reached.length === 0) return all
  const shown = new Set(reached)
  const leaders = Map.groupBy(reached, (mount) => propagationKey(table, mount))
  return all.filter((each) => {
    if (shown.has(each)) return true
    return !leaders.get(propagationKey(table, each))?.some((seen) => goesWith(table, seen, each))
  })
}
