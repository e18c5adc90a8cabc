/** Looks for a mount in every mount namespace. */
import type { UsedBy } from '../../holders/describe-holders.ts'
import type { MountInfo, MountTable } from '../../mountinfo/mount-table.ts'
import { mountIn, stayingOf, tablesAround } from '../operation/expected-mounts.ts'
import type { StepContext } from '../operation/step-context.ts'

/**
 * The first mount that is found, in our own table before others; those that the operation unmounts, and what goes with them, do not
 * count.
 *
 * @param find gives all that there are in a table
 * @returns undefined: there is none
 */
export function firstMount(run: StepContext, find: (table: MountTable) => readonly MountInfo[]): UsedBy | undefined {
  const stays = stayingOf(run)
  for (const { table, other } of tablesAround(run.around)) {
    const mount = find(table).find((each) => stays(each, table))
    if (mount !== undefined) return mountIn(mount, other, run.context.nameOf)
  }
  return undefined
}
