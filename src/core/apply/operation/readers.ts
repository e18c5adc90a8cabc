/** Second users of what a device operation takes away (S24, C85). */
import { posix } from 'node:path'
import { OperationRefused } from '../../errors/operation-error.ts'
import { isWithin } from '../../files/path-within.ts'
import type { NameOf } from '../../holders/container-names.ts'
import { describeProcess } from '../../holders/describe-holders.ts'
import type { Host } from '../../host/host.ts'
import { ownPathOf } from '../../mountinfo/linked-mounts.ts'
import type { MountInfo, MountTable } from '../../mountinfo/mount-table.ts'
import { goesWith } from '../../mountinfo/propagation.ts'
import type { Operation } from '../../plan/plan.ts'
import { describeMount, expectedIds } from './expected-mounts.ts'
import type { Surroundings } from './surroundings.ts'

/**
 * Nobody else may read what is staged: no other mount of it in any namespace. A copy in a peer of what it is mounted on
 * goes away with it and is no second user; a bind mount is in its peer group too, and is one.
 *
 * @throws OperationRefused
 */
export function requireNoReaders(operation: Operation, around: Surroundings, host: Host, nameOf?: NameOf): void {
  const own = expectedIds(operation)
  const staged = [...own.keys()].flatMap((id) => around.table.byId(id) ?? [])
  const paths = (operation.expects ?? []).map((each) => each.path)
  for (const mount of staged) {
    const reader = readersIn(around.table, mount, around.table).find(
      ({ id, mountPoint }) => !own.has(id) && !paths.includes(mountPoint),
    )
    if (reader !== undefined) throw heldBy(operation, `${describeMount(reader)} still shows it`)
    for (const { table, pid, process } of around.others) {
      const other = readersIn(around.table, mount, table)[0]
      if (other !== undefined)
        throw heldBy(
          operation,
          `${describeMount(other)}, in the namespace of ${describeProcess({ process, pid }, nameOf)}`,
        )
    }
  }
  const directory = operation.steps
    .map((step) => step.target)
    .filter((path) => path.startsWith('/'))
    .at(-1)
  const isBelow = (file: string): boolean =>
    directory !== undefined && isWithin(ownPathOf(around.table, file), directory)
  const loop = host.loops().find(({ backingFile }) => isBelow(backingFile))
  const released = operation.steps.some(({ op, target }) => op === 'losetup -d' && target === loop?.device)
  if (loop !== undefined && !released) throw heldBy(operation, `${loop.device} is backed by ${loop.backingFile}`)
}

/** @param table where the staged mount is; @param others where readers are looked for */
function readersIn(table: MountTable, staged: MountInfo, others: MountTable): MountInfo[] {
  return others
    .ofDevice(staged.dev)
    .filter((mount) => isWithin(posix.normalize(mount.root), staged.root))
    .filter((mount) => mount.id !== staged.id && !goesWith(table, staged, mount, others))
}

function heldBy({ volume }: Operation, who: string): OperationRefused {
  return new OperationRefused('HeldBy', `volume ${volume?.name ?? ''} is still in use: ${who}`, {
    hint: 'End that use first; then plan again.',
  })
}
