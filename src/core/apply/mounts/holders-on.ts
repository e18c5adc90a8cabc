/** Finds who keeps a mount busy, for the message of an operation that fails on it. */

import { describeMount } from '../../rules/expected-mounts.ts'
import { processReaderOf } from '../../rules/surroundings.ts'
import { describeHolders } from '../../users/describe-holders.ts'
import { fileSystemsAt, type Holders } from '../../users/find-holders.ts'
import type { Uses } from '../../users/uses.ts'
import type { StepContext } from '../operation/step-context.ts'

/** Mounts below the path that are named; no more, to keep the message short. */
const MOST_MOUNTS = 4

/** Whatever time the operation has left. @param path a mount point, or a directory */
export async function holdersOn(path: string, run: StepContext): Promise<Holders> {
  const { host, around, context } = run
  const { table, others } = around
  const fileSystems = fileSystemsAt(table, [path])
  return holdersAt(path, run, await host.askProcesses({ table, others, fileSystems }, processReaderOf(context)))
}

function holdersAt(path: string, { host, around }: StepContext, uses: Uses): Holders {
  const { table, others } = around
  return host.findHolders({ table, paths: [path], others, loops: host.loops(), uses })
}

/** What keeps a mount point busy, as text: mounts below it, and holders by the shared look, since thousands may be busy. Empty: nothing was found. */
export async function holdersOfMounts(path: string, run: StepContext): Promise<string> {
  const mounts = run.around.below(path).map(describeMount)
  return [
    ...mounts.slice(0, MOST_MOUNTS),
    ...holdersText(holdersAt(path, run, (await run.users()).processes), run),
  ].join(', ')
}

/** The holders as one text; an empty list if there are none. */
export function holdersText(holders: Holders, { context }: StepContext): string[] {
  const text = describeHolders(holders, context.nameOf)
  return text === '' ? [] : [text]
}
