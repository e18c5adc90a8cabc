/** S21 on the machine: nobody may use the volume's disk, anything on it, or its directory. */

import { OperationRefused } from '../../base/operation-error.ts'
import { isPassive, type OnDisk, wholeDisk } from '../../linux/block/whole-disk.ts'
import { ownPathOf } from '../../linux/linked-mounts.ts'
import type { Unseen } from '../../linux/mount-namespaces.ts'
import type { Operation } from '../../plan/plan.ts'
import type { UsedBy } from '../../users/describe-holders.ts'
import { isReleased, stayingOf } from '../operation/expected-mounts.ts'
import type { StepContext } from '../operation/step-context.ts'
import { type DiskQuestion, type DiskUsers, lookAtDisks } from './disk-users.ts'
import { userOfDirectories, userOfFileSystems } from './file-system-users.ts'
import { requireNothingUnexplained } from './find-volume-device.ts'
import { devicesOf, ownOf, type VolumeDevices } from './node-stack.ts'

/**
 * Looks once, by the mount tables as they were last read.
 *
 * If the device cannot be found, the detach is refused, unless this node has no trace of the volume since boot, or the driver
 * has just answered OK to NodeUnstageVolume.
 *
 * @returns openers that may be gone in a moment; empty: nobody uses the device
 * @throws OperationRefused
 */
export async function requireDevicesUnused(run: StepContext): Promise<DiskUsers['passing']> {
  const { operation, around, record, isAhead = false } = run
  await requireNothingUnexplained(run)
  const { nodes, fileSystems, directories } = disksToDetach(run)
  const stays = stayingOf(run)
  const isOwnMount: DiskQuestion['isOwnMount'] = (mount, _, table) => !stays(mount, table)
  const { lasting, passing } = await lookAtDisks(
    { nodes, isNoUse: isPassive, isOwnMount, isToBeFree: () => !isAhead },
    run,
  )
  const [user] = lasting
  if (user !== undefined) throw volumeInUse(operation, user)
  const inUse = (await userOfFileSystems(fileSystems, run)) ?? (await userOfDirectories(directories, run))
  if (inUse !== undefined) throw volumeInUse(operation, inUse)
  // Of a device that is known, the look has identified what each is made on, below whatever kubelet's root directory.
  const loops = record.devices.size > 0 ? [] : around.loops
  const loop = loops.find(
    (each) => !isReleased(each, operation) && isOfVolume(ownPathOf(around.table, each.backingFile), operation),
  )
  if (loop !== undefined) throw volumeInUse(operation, { who: `${loop.device}, backed by ${loop.backingFile}` })
  return passing
}

/** What nobody may use: the whole disks, and the volume's file systems and directories that are on none. */
export function disksToDetach(
  run: StepContext,
): Pick<VolumeDevices, 'fileSystems' | 'directories'> & { readonly nodes: readonly OnDisk[] } {
  const { host } = run
  const own = ownOf(run)
  const { disks, below, fileSystems, directories } = devicesOf(run.record, own, host)
  const nodes = wholeDisk([...disks, ...below], host.blockTree, { own: own.devices, throughLvm: true })
  return { nodes, fileSystems, directories }
}

/** Is the file below a block map of the volume's name. */
function isOfVolume(file: string, { volume }: Operation): boolean {
  return volume?.mode === 'Block' && file.includes(`/volumeDevices/${volume.name}/`)
}

export function volumeInUse({ volume }: Operation, by: UsedBy | Unseen): OperationRefused {
  const name = `volume ${volume?.name ?? ''}`
  if ('who' in by)
    return new OperationRefused('HeldBy', `${name} is still in use on this node: ${by.who}`, {
      users: by.users ?? [],
    })
  return new OperationRefused('UsersUnknown', `${name} may still be in use on this node: ${by.text}`, {
    hint: `${by.hint} Then plan again.`,
  })
}
