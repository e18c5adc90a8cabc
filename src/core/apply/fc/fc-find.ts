/** The step fcFind: finds the disks of a Fibre Channel LUN (P80). */

import { OperationRefused, StepFailed } from '../../errors/operation-error.ts'
import type { Undo } from '../../errors/undo.ts'
import { FC_PLUGIN, type FcDisk, fcDiskOf } from '../../names/fc-disk.ts'
import type { Step } from '../../plan/plan.ts'
import { deviceOf, mapOver } from '../disks/lun-device.ts'
import { scanHost } from '../disks/scan-host.ts'
import type { StepContext } from '../operation/step-context.ts'
import { waitUntil } from '../operation/wait-until.ts'
import { isOf, linkedDisks } from './fc-step.ts'

/**
 * Finds the disks by udev's links, whose names are compared whole, and checks them against sysfs. If there is no multipath
 * map, every SCSI host is asked to scan once more. The map, or the first disk, becomes `bringUp.device`.
 *
 * @throws StepFailed DeviceMissing, IdentityUnconfirmed
 */
export async function findFcDisk(_: Step, run: StepContext): Promise<readonly Undo[]> {
  const disk = wantedDisk(run)
  const known = disksOf(disk, run)
  if (mapOver(known, run) === undefined) {
    for (const host of run.host.blockTree.scsiHosts()) await scanHost(host, '- - -', run)
  }
  const found = await waitUntil(() => someOf(disksOf(disk, run)), run)
  if (found === undefined) throw missing(disk, run)
  run.bringUp.device = await deviceOf(found, found.length > 1, run)
  return []
}

function wantedDisk({ bringUp: { wanted } }: StepContext): FcDisk {
  const source = wanted?.persistentVolume?.spec.fc ?? wanted?.source?.fc
  const disk = source == null ? undefined : fcDiskOf(source)
  if (disk !== undefined && !('error' in disk)) return disk
  throw new OperationRefused('Changed', disk?.error ?? `the volume is no longer a ${FC_PLUGIN} volume`, {
    hint: 'Plan again.',
  })
}

/** @throws StepFailed IdentityUnconfirmed if a link leads to a disk that sysfs does not show to be this LUN */
function disksOf(disk: FcDisk, run: StepContext): string[] {
  const linked = [...linkedDisks(disk, run)]
  const doubtful = linked.find((name) => !isOf(disk, name, run))
  if (doubtful === undefined) return linked
  throw new StepFailed(
    'IdentityUnconfirmed',
    `udev links ${doubtful} as ${linkNames(disk)}, but sysfs does not confirm that`,
    { hint: 'Compare lsblk -S -o NAME,HCTL,WWN and ls -l /dev/disk/by-path /dev/disk/by-id; then plan again.' },
  )
}

function someOf(disks: readonly string[]): readonly string[] | undefined {
  return disks.length === 0 ? undefined : disks
}

function missing(disk: FcDisk, { host: { blockTree } }: StepContext): StepFailed {
  const adapters = blockTree.fcHosts()
  const among =
    adapters.length === 0
      ? 'this host has no Fibre Channel adapter (/sys/class/fc_host)'
      : `the adapters ${adapters.join(', ')} do not see it`
  return new StepFailed('DeviceMissing', `no disk is linked as ${linkNames(disk)}; ${among}`, {
    hint: 'Check that the zoning and the array let this host see the LUN (lsscsi -t, ls /dev/disk/by-path /dev/disk/by-id); then plan again.',
  })
}

/** The names that udev's links would have, for messages. */
function linkNames(disk: FcDisk): string {
  return disk.wwns === undefined
    ? disk.wwids.map((wwid) => `scsi-${wwid}`).join(' or ')
    : disk.wwns.map((wwn) => `fc-0x${wwn}-lun-${disk.lun}`).join(' or ')
}
