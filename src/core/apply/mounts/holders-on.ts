/** Finds who keeps a mount busy, for the message of an operation that fails on it. */
import { describeHolders } from '../../holders/describe-holders.ts'
import type { Holders } from '../../holders/find-holders.ts'
import type { MapReader } from '../../holders/mapped-files.ts'
import { describeMount } from '../operation/expected-mounts.ts'
import { mapReaderOf } from '../operation/map-reader-of.ts'
import type { StepContext } from '../operation/step-context.ts'

/** Mounts below the path that are named; no more, to keep the message short. */
const MOST_MOUNTS = 4

/** Limit for reading the memory maps of processes, regardless of the operation's remaining time. */
const DEADLINE_MS = 5000

/** All holders, memory maps included. @param path a mount point, or a directory */
export function holdersOn(path: string, run: StepContext): Promise<Holders> {
  return search(path, run, mapReaderOf(run.context, DEADLINE_MS))
}

/** Some holders: memory maps are read only if nobody else is found, since that takes a child and thousands of mounts may be busy. */
async function someHoldersOn(path: string, run: StepContext): Promise<Holders> {
  const found = await search(path, run)
  return found.processes.length + found.loops.length + found.kernel.length > 0 ? found : holdersOn(path, run)
}

function search(path: string, { host, around }: StepContext, maps?: MapReader): Promise<Holders> {
  const { table, others } = around
  return host.findHolders({ table, paths: [path], others, loops: host.loops(), maps })
}

/** What keeps a mount point busy, as text: mounts below it, and some holders. Empty: nothing was found. */
export async function holdersOfMounts(path: string, run: StepContext): Promise<string> {
  const mounts = run.around.below(path).map(describeMount)
  return [...mounts.slice(0, MOST_MOUNTS), ...holdersText(await someHoldersOn(path, run), run)].join(', ')
}

/** The holders as one text; an empty list if there are none. */
export function holdersText(holders: Holders, { context }: StepContext): string[] {
  const text = describeHolders(holders, context.nameOf)
  return text === '' ? [] : [text]
}
