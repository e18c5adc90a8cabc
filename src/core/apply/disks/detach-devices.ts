/** S21's look at the machine: nothing and nobody has the volume's disk, whatever is on it, or its directory. */

import { isPassive, wholeDisk } from '../../block/whole-disk.ts'
import { OperationRefused } from '../../errors/operation-error.ts'
import { isWithin } from '../../files/path-within.ts'
import type { Host } from '../../host/host.ts'
import { ownPathOf } from '../../mountinfo/linked-mounts.ts'
import type { Operation } from '../../plan/plan.ts'
import type { StepContext } from '../operation/step-context.ts'
import type { VolumeRecord } from '../operation/volume-record.ts'
import { userOfDirectories } from './directory-users.ts'
import { type DiskUsers, lookAtDisks } from './disk-users.ts'
import { userOfFileSystems } from './file-system-users.ts'
import { requireNothingUnexplained } from './find-volume-device.ts'
import { nodeBehind } from './loops-on-disks.ts'
import { nodesOwn } from './node-stack.ts'
import { devicesOf, isSame } from './volume-devices.ts'

/**
 * Looks once, at what is around as it was read last.
 *
 * A device that cannot be found means blocked, unless nothing of the volume was on record here since boot, or the
 * driver has just answered OK to NodeUnstageVolume.
 *
 * @param ofOthers as loopsOfOthers gave it
 * @returns openers that may be gone in a moment; none: nobody uses it
 * @throws OperationRefused
 */
export async function requireDevicesUnused(
  run: StepContext,
  ofOthers: ReadonlySet<string>,
): Promise<DiskUsers['passing']> {
  const { record, operation, around, host, plan } = run
  requireNothingUnexplained(run)
  const own = nodesOwn(around, plan.rootDir, host)
  const { disks, below, fileSystems, directories } = devicesOf(record, own, host)
  const nodes = wholeDisk([...disks, ...below], host.blockTree, { own: own.devices, throughLvm: true })
  const isOwn = (device: string): boolean =>
    ofOthers.has(keyOf({ device, backingFile: host.loopBackingFile(device) ?? '' }))
  const { lasting, passing } = await lookAtDisks(
    { nodes, isNoUse: isPassive, loops: { isOwn, filesAside: true }, withMaps: true },
    run,
  )
  const [user] = lasting
  if (user !== undefined) throw heldBy(operation, user.who)
  const held = (await userOfFileSystems(fileSystems, run)) ?? (await userOfDirectories(directories, run))
  if (held !== undefined) throw heldBy(operation, held)
  const loop = host
    .loops()
    .find((each) => isOfVolume(ownPathOf(around.table, each.backingFile), operation) && !ofOthers.has(keyOf(each)))
  if (loop !== undefined) throw heldBy(operation, `${loop.device}, backed by ${loop.backingFile}`)
  return passing
}

/**
 * Loops on a block map of the same name below another root directory, as several kubelets of one machine have it (kind):
 * those that are shown to be on another device than the volume's. To find that out may take a moment.
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
    const node = await nodeBehind(loop.device, run)
    if (node !== undefined && !isDeviceOf(node, record, host)) others.add(keyOf(loop))
  }
  return others
}

function isDeviceOf(dev: string, { devices }: VolumeRecord, host: Host): boolean {
  return devices.has(dev) && isSame(dev, devices.get(dev), host)
}

const keyOf = ({ device, backingFile }: { device: string; backingFile: string }): string => `${device} ${backingFile}`

/** A loop on a file below the volume's own block map. */
function isOfVolume(file: string, { volume }: Operation): boolean {
  return volume?.mode === 'Block' && file.includes(`/volumeDevices/${volume.name}/`)
}

export function heldBy({ volume }: Operation, who: string): OperationRefused {
  return new OperationRefused('HeldBy', `volume ${volume?.name ?? ''} is still in use here: ${who}`, {
    hint: 'End that use first; then plan again.',
  })
}
