/** One mount that stands in the table more than once: below a shared directory that is bound over itself (O35). */
import type { MountInfo, MountTable } from './mount-table.ts'
import { goesWith } from './propagation.ts'

/** Every other mount of the table that goes away with this one. */
export function copiesOf(table: MountTable, mount: MountInfo): MountInfo[] {
  return table.ofDevice(mount.dev).filter((each) => each.id !== mount.id && goesWith(table, mount, each))
}

/**
 * The mounts on a path without those that no path leads to and that go with one that is seen: a mount stands once,
 * however often the table shows it. What else is covered stays: it is a mount of its own.
 */
export function withoutCopies(table: MountTable, path: string): readonly MountInfo[] {
  const all = table.at(path)
  if (all.length < 2) return all
  const reached = table.reached(path)
  if (reached.length === all.length || reached.length === 0) return all
  return all.filter((each) => reached.includes(each) || !reached.some((seen) => goesWith(table, seen, each)))
}
