/** S21 on the machine: nobody may use the volume's disk, anything on it, or its directory. */

import { isPassive, type OnDisk, wholeDisk } from '../../block/whole-disk.ts'
import { OperationRefused } from '../../errors/operation-error.ts'
import { isWithin } from '../../files/path-within.ts'
import type { UsedBy } from '../../holders/describe-holders.ts'
import type { Host } from '../../host/host.ts'
import { ownPathOf } from '../../mountinfo/linked-mounts.ts'
import type { Operation } from '../../plan/plan.ts'
import type { Unseen } from '../../processes/mount-namespaces.ts'
import { stayingOf } from '../operation/expected-mounts.ts'
import type { StepContext } from '../operation/step-context.ts'
import type { VolumeRecord } from '../operation/volume-record.ts'
import { behindLoop, type DiskQuestion, type DiskUsers, lookAtDisks } from './disk-users.ts'
import { userOfDirectories, userOfFileSystems } from './file-system-users.ts'
import { requireNothingUnexplained } from './find-volume-device.ts'
import { devicesOf, isSame, nodesOwn, type VolumeDevices } from './node-stack.ts'

/**
 * Looks once, by the mount tables as they were last read.
 *
 * If the device cannot be found, the detach is refused, unless this node has no trace of the volume since boot, or the driver
 * has just answered OK to NodeUnstageVolume.
 *
 * @param ofOthers the result of loopsOfOthers
 * @returns openers that may be gone in a moment; empty: nobody uses the device
 * @throws OperationRefused
 */
export async function requireDevicesUnused(
  run: StepContext,
  ofOthers: ReadonlySet<string>,
): Promise<DiskUsers['passing']> {
  const { operation, around, host } = run
  await requireNothingUnexplained(run)
  const { nodes, fileSystems, directories } = disksToDetach(run)
  const isOwn = (device: string): boolean =>
    ofOthers.has(keyOf({ device, backingFile: host.loopBackingFile(device) ?? '' }))
  const stays = stayingOf(run)
  const isOwnMount: DiskQuestion['isOwnMount'] = (mount, _, table) => !stays(mount, table)
  const question = { nodes, isNoUse: isPassive, isOwnMount, isOwnLoop: isOwn }
  const { lasting, passing } = await lookAtDisks(question, run)
  const [user] = lasting
  if (user !== undefined) throw volumeInUse(operation, user)
  const inUse = (await userOfFileSystems(fileSystems, run)) ?? (await userOfDirectories(directories, run))
  if (inUse !== undefined) throw volumeInUse(operation, inUse)
  const loop = host
    .loops()
    .find((each) => isOfVolume(ownPathOf(around.table, each.backingFile), operation) && !ofOthers.has(keyOf(each)))
  if (loop !== undefined) throw volumeInUse(operation, { who: `${loop.device}, backed by ${loop.backingFile}` })
  return passing
}

/** What nobody may use: the whole disks, and the volume's file systems and directories that are on none. */
export function disksToDetach({
  record,
  around,
  host,
  plan,
}: StepContext): Pick<VolumeDevices, 'fileSystems' | 'directories'> & { readonly nodes: readonly OnDisk[] } {
  const own = nodesOwn(around, plan.rootDir, host)
  const { disks, below, fileSystems, directories } = devicesOf(record, own, host)
  const nodes = wholeDisk([...disks, ...below], host.blockTree, { own: own.devices, throughLvm: true })
  return { nodes, fileSystems, directories }
}

/**
 * Loop devices of volumes of the same name below another root directory (several kubelets on one machine, as with kind):
 * those that are shown to be on a device other than the volume's. Finding that out may take a moment.
 */
export async function loopsOfOthers(run: StepContext): Promise<ReadonlySet<string>> {
  const { around, host, operation, plan, record } = run
  const others = new Set<string>()
  if (record.devices.size === 0) return others
  for (const loop of host.loops()) {
    if (
      !isOfVolume(ownPathOf(around.table, loop.backingFile), operation) ||
      isWithin(ownPathOf(around.table, loop.backingFile), plan.rootDir)
    )
      continue
    const node = await behindLoop(loop, run)
    if (node !== undefined && node !== 'file' && !isDeviceOf(node, record, host)) others.add(keyOf(loop))
  }
  return others
}

function isDeviceOf(dev: string, { devices }: VolumeRecord, host: Host): boolean {
  return devices.has(dev) && isSame(dev, devices.get(dev), host)
}

const keyOf = ({ device, backingFile }: { device: string; backingFile: string }): string => `${device} ${backingFile}`

/** Is the file below a block map of the volume's name. */
function isOfVolume(file: string, { volume }: Operation): boolean {
  return volume?.mode === 'Block' && file.includes(`/volumeDevices/${volume.name}/`)
}

export function volumeInUse({ volume }: Operation, by: UsedBy | Unseen): OperationRefused {
  const name = `volume ${volume?.name ?? ''}`
  if ('who' in by)
    return new OperationRefused('HeldBy', `${name} is still in use on this node: ${by.who}`, {
      users: by.users ?? [],
      hint: 'Stop that use first, then plan again.',
    })
  return new OperationRefused('UsersUnknown', `${name} may still be in use on this node: ${by.text}`, {
    hint: `${by.hint} Then plan again.`,
  })
}
