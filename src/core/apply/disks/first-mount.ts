/** Looks for a mount in every mount namespace. */
import { describeProcess } from '../../holders/describe-holders.ts'
import type { MountInfo, MountTable } from '../../mountinfo/mount-table.ts'
import { describeMount, stayingOf } from '../operation/expected-mounts.ts'
import type { StepContext } from '../operation/step-context.ts'

/**
 * The first mount that is found, in our own table before others; those that the operation unmounts, and what goes with them, do not
 * count.
 *
 * @param find gives all that there are in a table
 * @returns text for messages, with the namespace if it is not ours; undefined: there is none
 */
export function firstMount(run: StepContext, find: (table: MountTable) => readonly MountInfo[]): string | undefined {
  const { around, context } = run
  const stays = stayingOf(run)
  const stayingIn = (table: MountTable): MountInfo | undefined => find(table).find((mount) => stays(mount, table))
  const here = stayingIn(around.table)
  if (here !== undefined) return describeMount(here)
  for (const { table, process, pid } of around.others) {
    const there = stayingIn(table)
    if (there === undefined) continue
    return `${describeMount(there)}, in the mount namespace of ${describeProcess({ process, pid }, context.nameOf)}`
  }
  return undefined
}
