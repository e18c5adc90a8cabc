/** Nobody else uses what an operation takes away: asked right before it begins, and before a plan calls it ready. */

import { posix } from 'node:path'
import { OperationRefused } from '../base/operation-error.ts'
import { isOfServer } from '../linux/file-systems.ts'
import { ownPathOf } from '../linux/linked-mounts.ts'
import type { MountInfo, MountTable } from '../linux/mount-table.ts'
import { isWithin } from '../linux/paths.ts'
import type { Operation } from '../plan/plan.ts'
import type { UsedBy } from '../users/describe-holders.ts'
import { staying } from '../users/find-holders.ts'
import { requireNoUsers } from './conditions/require-content-unused.ts'
import { noteOverlays } from './disks/file-system-users.ts'
import { findStagedDevice, isOfAnother } from './disks/find-volume-device.ts'
import { noteMounted } from './disks/remove-disks.ts'
import { requireDeviceUnused, takesDevice } from './disks/require-device-unused.ts'
import { requireNothingHidden } from './disks/require-nothing-hidden.ts'
import { requireNotSetUpElsewhere } from './disks/set-up-elsewhere.ts'
import { describeMount, expectedIds, isReleased, mountIn } from './operation/expected-mounts.ts'
import type { Witness } from './operation/ports.ts'
import type { StepContext } from './operation/step-context.ts'

/**
 * First what each device is, then who has it. The users of content last: that look takes longest, and is to be the freshest when the
 * first step begins. A detach asks separately, in the second of the deletion (S21).
 *
 * @throws OperationRefused
 */
export async function requireNobody(operation: Operation, run: StepContext, witness: Witness): Promise<void> {
  noteMounted(run)
  noteOverlays(run)
  if (takesDevice(operation)) await findStagedDevice(run)
  if (operation.kind === 'UnmountDevice' || operation.kind === 'UnmapDevice') {
    requireNoReaders(run)
    requireNotSetUpElsewhere(run)
  }
  if (operation.steps.some(({ op }) => op === 'NodeUnstageVolume')) await requireNothingHidden(run)
  await requireDeviceUnused(run, witness)
  await requireNoUsers(run)
}

/**
 * No other mount of a staged volume may exist in any namespace. A propagated copy goes away with the staged mount and does
 * not count. A bind mount, although in the same peer group, does count. What shows another volume of the same share of a server does
 * not, nor what the pods of that one have in their own namespaces.
 *
 * @throws OperationRefused
 */
function requireNoReaders(run: StepContext): void {
  const { operation, around, host, context } = run
  const own = expectedIds(operation)
  const staged = [...own.keys()].flatMap((id) => around.table.byId(id) ?? [])
  const paths = (operation.expects ?? []).map((each) => each.path)
  const stays = staying(around.table, new Set(own.keys()))
  for (const mount of staged) {
    const others = isOfServer(mount.fsType)
      ? around.table.ofDevice(mount.dev).filter(({ mountPoint }) => isOfAnother(mountPoint, run))
      : []
    const reader = readersIn(around.table, mount, stays).find(
      (each) => !paths.includes(each.mountPoint) && !others.includes(each),
    )
    if (reader !== undefined) throw stillInUse(operation, { who: `${describeMount(reader)} is another mount of it` })
    for (const other of around.others) {
      const pods = others.length === 0 ? [] : host.podsOf(other.pid)
      if (others.some(({ mountPoint }) => pods.some((uid) => mountPoint.includes(`/pods/${uid}/`)))) continue
      const [there] = readersIn(other.table, mount, stays)
      if (there !== undefined) throw stillInUse(operation, mountIn(there, other, context.nameOf))
    }
  }
  const directory = operation.steps
    .map((step) => step.target)
    .filter((path) => path.startsWith('/'))
    .at(-1)
  const isBelow = (file: string): boolean =>
    directory !== undefined && isWithin(ownPathOf(around.table, file), directory)
  const loop = around.loops.find((each) => isBelow(each.backingFile) && !isReleased(each, operation))
  if (loop !== undefined) throw stillInUse(operation, { who: `${loop.device} is backed by ${loop.backingFile}` })
}

function readersIn(table: MountTable, staged: MountInfo, stays: ReturnType<typeof staying>): MountInfo[] {
  return table
    .ofDevice(staged.dev)
    .filter((mount) => isWithin(posix.normalize(mount.root), staged.root))
    .filter((mount) => stays(mount, table))
}

function stillInUse({ volume }: Operation, { who, users = [] }: UsedBy): OperationRefused {
  return new OperationRefused('HeldBy', `volume ${volume?.name ?? ''} is still in use: ${who}`, { users })
}
