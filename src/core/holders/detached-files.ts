/** Finds who has something open on a file system that was unmounted lazily, and so is in no mount table (S20, S21). */

import type { MountTable } from '../mountinfo/mount-table.ts'
import { isHiddenInit, processIds, processName } from '../processes/mount-namespaces.ts'
import { isInUserNamespace } from '../processes/standing.ts'
import { namespaceOf } from '../trust/kernel.ts'
import type { BlockQuestion } from './mapped-blocks.ts'
import { type MapReader, readMaps } from './mapped-files.ts'

/** Processes that have one of these block devices mapped; processes that cannot be read are left out. */
export async function processesWithBlocks(
  blocks: BlockQuestion,
  reader: MapReader,
): Promise<readonly { readonly pid: number; readonly process: string; readonly path: string }[]> {
  const { answers } = await readMaps({ pids: askedProcesses(), devices: [], blocks }, reader)
  return answers.flatMap(({ pid, paths }) => paths.map((path) => ({ pid, process: processName(pid), path })))
}

export interface DetachedSearch {
  /** "major:minor" of the file systems in question. */
  readonly devices: readonly string[]
  /** Of every mount namespace. */
  readonly tables: readonly MountTable[]
  /** The file systems among them that no table shows at all: for these, mapped files count, too. */
  readonly maps: readonly string[]
}

export interface DetachedFiles {
  readonly users: readonly { readonly pid: number; readonly process: string; readonly path: string }[]
  /** What could not be read, for messages; empty: everything was. */
  readonly unread: readonly string[]
}

export async function detachedFiles(
  { devices, tables, maps }: DetachedSearch,
  reader: MapReader,
): Promise<DetachedFiles> {
  const pids = askedProcesses()
  const mounts = [...new Set(tables.flatMap((table) => table.under('/').map(({ id }) => id)))]
  const { answers, unread } = await readMaps({ pids, devices: maps, detached: { devices, mounts } }, reader)
  return {
    users: answers.flatMap(({ pid, paths }) => paths.map((path) => ({ pid, process: processName(pid), path }))),
    unread,
  }
}

/**
 * All processes but this one. Root of a user namespace may not look at processes outside of it; a node there is a test's own,
 * and apply refuses any other (S7).
 */
function askedProcesses(): number[] {
  const isOurs = isInUserNamespace()
    ? (pid: number) => namespaceOf(pid, 'mnt') !== undefined
    : (pid: number) => !isHiddenInit(pid)
  return processIds().filter((pid) => pid !== process.pid && isOurs(pid))
}
