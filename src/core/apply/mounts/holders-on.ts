/** Who keeps a mount busy, for an operation that fails on it. */
import { describeHolders } from '../../holders/describe-holders.ts'
import type { Holders } from '../../holders/find-holders.ts'
import type { MapReader } from '../../holders/mapped-files.ts'
import { describeMount } from '../operation/expected-mounts.ts'
import { mapReaderOf } from '../operation/map-reader-of.ts'
import type { StepContext } from '../operation/step-context.ts'

/** Named one by one. */
const MOST_MOUNTS = 4

/** Nobody looks longer than this, whatever the time that the operation still has. */
const DEADLINE_MS = 5000

/** Everybody. @param path a mount point, or a directory */
export function holdersOn(path: string, run: StepContext): Promise<Holders> {
  return search(path, run, mapReaderOf(run.context, DEADLINE_MS))
}

/** Whoever is shown first: thousands of mounts may be busy, and to read what processes have mapped takes a child each time. */
async function someHoldersOn(path: string, run: StepContext): Promise<Holders> {
  const found = await search(path, run)
  return found.processes.length + found.loops.length + found.kernel.length > 0 ? found : holdersOn(path, run)
}

function search(path: string, { host, around }: StepContext, maps?: MapReader): Promise<Holders> {
  const { table, others } = around
  return host.findHolders({ table, paths: [path], others, loops: host.loops(), maps })
}

/** In words, what keeps a mount point busy: mounts below it, and whoever is shown first. Empty: nobody is. */
export async function holdersOfMounts(path: string, run: StepContext): Promise<string> {
  const mounts = run.around.below(path).map(describeMount)
  return [...mounts.slice(0, MOST_MOUNTS), ...heldBy(await someHoldersOn(path, run), run)].join(', ')
}

/** One text, or none. */
export function heldBy(holders: Holders, { context }: StepContext): string[] {
  const text = describeHolders(holders, context.nameOf)
  return text === '' ? [] : [text]
}
