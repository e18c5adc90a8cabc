/** S21's look at the machine: no mount, no loop, no superblock, no holder and no opener of the volume's device. */
import { describeProcess } from '../holders/describe-holders.ts'
import { ownPathOf } from '../mountinfo/linked-mounts.ts'
import { isWithin } from '../path-within.ts'
import type { Operation } from '../plan/plan.ts'
import { describeMount } from './expected-mounts.ts'
import type { Host } from './host.ts'
import { backingOf, nodeBehind } from './loops-on-disks.ts'
import { OperationRefused } from './operation-error.ts'
import type { StepContext } from './step-context.ts'
import type { VolumeRecord } from './volume-record.ts'

/**
 * A device that cannot be found means blocked, unless nothing of the volume was on record here since boot, or the
 * driver has just answered OK to NodeUnstageVolume.
 *
 * @param ofOthers as loopsOfOthers gave it
 * @throws OperationRefused
 */
export function requireDevicesUnused(run: StepContext, ofOthers: ReadonlySet<string>): void {
  const { record, operation, around, host, context } = run
  noteDevices(operation, record, host)
  if (record.devices.size === 0 && record.touched && !record.unstaged) {
    throw new OperationRefused(
      'DeviceUnknown',
      `the device of ${operation.volume?.name ?? 'the volume'} could not be found`,
      {
        hint: 'Make sure that nothing uses it; then leave the detach to the controller.',
      },
    )
  }
  for (const dev of record.devices.keys()) {
    if (!isDeviceOf(dev, record, host)) continue
    const here = around.table.ofDevice(dev)[0]
    if (here !== undefined) throw heldBy(operation, describeMount(here))
    const elsewhere = around.others.find(({ table }) => table.ofDevice(dev).length > 0)
    if (elsewhere !== undefined) {
      throw heldBy(operation, `a mount in the mount namespace of ${describeProcess(elsewhere, context.nameOf)}`)
    }
    // Anonymous devices (network and FUSE file systems) end with their last mount.
    const users = dev.startsWith('0:') ? [] : host.deviceUse(dev).users
    if (users.length > 0) throw heldBy(operation, users.join(', '))
  }
  const loop = host
    .loops()
    .find(
      (each) =>
        (isOfVolume(ownPathOf(around.table, each.backingFile), operation) && !ofOthers.has(keyOf(each))) ||
        isDeviceOf(backingOf(each.backingFile, around.table, host) ?? '', record, host),
    )
  if (loop !== undefined) throw heldBy(operation, `${loop.device}, backed by ${loop.backingFile}`)
}

/** Devices of everything that the operation was decided on; a bind of a device node is that device. */
export function noteDevices(operation: Operation, record: VolumeRecord, host: Host): void {
  for (const { layers } of operation.expects ?? []) {
    for (const { dev, root, fsType } of layers) {
      const device = fsType === 'devtmpfs' ? host.deviceNumber(`/dev${root}`) : dev
      if (device !== undefined) record.note(device)
    }
  }
  const named = /^(\d+:\d+)\b/.exec(operation.volume?.device ?? '')?.[1]
  const isNodeBind = (operation.expects ?? []).some(({ layers }) => layers.some((layer) => layer.fsType === 'devtmpfs'))
  if (named !== undefined && !isNodeBind) record.note(named)
}

/**
 * Not where the volume's disk is gone, and its number is another's: a kernel does not give a number away that is in use.
 * No sequence number at all says nothing: the disk may be gone, and its file system still mounted.
 */
function isDeviceOf(dev: string, { devices }: VolumeRecord, host: Host): boolean {
  if (!devices.has(dev)) return false
  const [before, now] = [devices.get(dev), host.diskSequence(dev)]
  return before === undefined || now === undefined || now === before
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

const keyOf = ({ device, backingFile }: { device: string; backingFile: string }): string => `${device} ${backingFile}`

/** A loop on a file below the volume's own block map. */
function isOfVolume(file: string, { volume }: Operation): boolean {
  return volume?.mode === 'Block' && file.includes(`/volumeDevices/${volume.name}/`)
}

function heldBy({ volume }: Operation, who: string): OperationRefused {
  return new OperationRefused('HeldBy', `volume ${volume?.name ?? ''} is still in use here: ${who}`, {
    hint: 'End that use first; then plan again.',
  })
}
