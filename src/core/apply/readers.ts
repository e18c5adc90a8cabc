/** Second users of what a device operation takes away (S24, C85). */

import { posix } from 'node:path'
import type { MountInfo, MountTable } from '../mountinfo/mount-table.ts'
import { isWithin } from '../path-within.ts'
import type { Operation } from '../plan/plan.ts'
import { describeMount, expectedIds } from './expected-mounts.ts'
import type { Host } from './host.ts'
import { OperationRefused } from './operation-error.ts'
import type { Surroundings } from './surroundings.ts'

/**
 * Nobody else may read what is staged: no other mount of it in any namespace. The same mount, seen through another
 * member of its peer group, goes away with it and is no second user.
 *
 * @throws OperationRefused
 */
export function requireNoReaders(operation: Operation, around: Surroundings, host: Host): void {
  const own = expectedIds(operation)
  const staged = [...own.keys()].flatMap((id) => around.table.byId(id) ?? [])
  const paths = (operation.expects ?? []).map((each) => each.path)
  for (const mount of staged) {
    const reader = readersIn(around.table, mount).find(
      ({ id, mountPoint }) => !own.has(id) && !paths.includes(mountPoint),
    )
    if (reader !== undefined) throw heldBy(operation, `${describeMount(reader)} still shows it`)
    for (const { table, pid, process } of around.others) {
      const other = readersIn(table, mount)[0]
      if (other !== undefined)
        throw heldBy(operation, `${describeMount(other)}, in the namespace of ${process} (pid ${pid})`)
    }
  }
  const directory = operation.steps
    .map((step) => step.target)
    .filter((path) => path.startsWith('/'))
    .at(-1)
  const loop = host.loops().find(({ backingFile }) => directory !== undefined && isWithin(backingFile, directory))
  const released = operation.steps.some(({ op, target }) => op === 'losetup -d' && target === loop?.device)
  if (loop !== undefined && !released) throw heldBy(operation, `${loop.device} is backed by ${loop.backingFile}`)
}

function readersIn(table: MountTable, staged: MountInfo): MountInfo[] {
  const peers = new Set(groupsOf(staged))
  return table
    .ofDevice(staged.dev)
    .filter((mount) => isWithin(posix.normalize(mount.root), staged.root))
    .filter((mount) => mount.id !== staged.id && !groupsOf(mount).some((group) => peers.has(group)))
}

/** shared:N and master:N name the same group N: a slave of it follows its unmounts too. */
function groupsOf({ optionalFields }: MountInfo): string[] {
  return optionalFields.flatMap((field) => /^(?:shared|master):(\d+)$/.exec(field)?.[1] ?? [])
}

function heldBy({ volume }: Operation, who: string): OperationRefused {
  return new OperationRefused('HeldBy', `volume ${volume?.name ?? ''} is still in use: ${who}`, {
    hint: 'End that use first; then plan again.',
  })
}
