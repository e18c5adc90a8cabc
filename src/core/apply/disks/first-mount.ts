/** Looks for a mount in every mount namespace. */
import { describeProcess } from '../../holders/describe-holders.ts'
import type { MountInfo, MountTable } from '../../mountinfo/mount-table.ts'
import { describeMount } from '../operation/expected-mounts.ts'
import type { StepContext } from '../operation/step-context.ts'

/**
 * The first mount that is found, in our own table before others.
 *
 * @returns text for messages, with the namespace if it is not ours; undefined: there is none
 */
export function firstMount(
  { around, context }: StepContext,
  find: (table: MountTable) => MountInfo | undefined,
): string | undefined {
  const here = find(around.table)
  if (here !== undefined) return describeMount(here)
  for (const { table, process, pid } of around.others) {
    const there = find(table)
    if (there === undefined) continue
    return `${describeMount(there)}, in the mount namespace of ${describeProcess({ process, pid }, context.nameOf)}`
  }
  return undefined
}
