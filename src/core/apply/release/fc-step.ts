/** Releases a Fibre Channel LUN: removes the SCSI disks of what was mounted or mapped (P81, P84, S25). */
import { posix } from 'node:path'
import { StepFailed } from '../../base/operation-error.ts'
import type { Step } from '../../plan/plan.ts'
import { describeMount } from '../../rules/expected-mounts.ts'
import { type FcDisk, isFcDisk, isFcLink, parseFcDirectory } from '../../volumes/fc.ts'
import { disksBehind, mountedDisks, removeDisks, seeDisks } from '../disks/remove-disks.ts'
import type { StepContext } from '../operation/ports.ts'

/**
 * The disks are those of the mount, not those of the directory's name. If nothing was mounted any more (an interrupted
 * tear-down), they are the ones that udev's links name exactly.
 */
export async function removeFcDisks({ target }: Step, run: StepContext): Promise<void> {
  const mount = run.around.table.at(target).at(-1)
  if (mount !== undefined) throw new StepFailed('HeldBy', `${describeMount(mount)} is still there`)
  const name = posix.basename(target)
  const disk = parseFcDirectory(name)
  if (disk === undefined) throw unconfirmed(`${name} names neither a WWID nor a WWN and a LUN`)
  const mounted = mountedDisks(run)
  const linked = linkedDisks(disk, run)
  if (mounted.size === 0 && linked.size === 0) {
    requireNothingMountedSince(target, run)
    const unlinked = run.host.blockTree.scsiDisks().find((each) => isOf(disk, each, run))
    if (unlinked !== undefined) throw unconfirmed(`${unlinked} is a disk of ${name}, but udev has no link to it`)
  }
  // If udev links the volume's disks, what was mounted must be one of these.
  const stranger = linked.size === 0 ? undefined : [...mounted].find((each) => !linked.has(each))
  if (stranger !== undefined) {
    throw new StepFailed('ForeignDevice', `${stranger} was mounted, but is not a disk of ${name}`)
  }
  const seen = seeDisks([...(mounted.size > 0 ? mounted : linked)], run)
  const doubtful = seen.find((each) => !isOf(disk, each.name, run))
  if (doubtful !== undefined) throw unconfirmed(`sysfs does not confirm that ${doubtful.name} is a disk of ${name}`)
  await removeDisks(seen, run)
}

/** True if sysfs shows that the disk is the volume's: a link of udev may be stale. */
function isOf(disk: FcDisk, name: string, { host: { blockTree } }: StepContext): boolean {
  const address = blockTree.node(name)?.scsiAddress
  const port = address === undefined || disk.wwns === undefined ? undefined : blockTree.fcPort(address)
  const wwid = disk.wwids === undefined ? undefined : blockTree.wwid(name)
  return isFcDisk(disk, { lun: address?.split(':')[3], port, wwid })
}

function unconfirmed(what: string): StepFailed {
  return new StepFailed('IdentityUnconfirmed', what, {
    hint: 'Compare lsblk -S -o NAME,HCTL,WWN and ls -l /dev/disk/by-path /dev/disk/by-id; plan again when udev is done: the directory is kept.',
  })
}

/** Somebody else has unmounted a mount of the plan: it is unknown whether its disks were removed as well. */
function requireNothingMountedSince(target: string, { record }: StepContext): void {
  if (record.devices.size === 0 || record.mounted.size > 0) return
  const devices = [...record.devices.keys()].join(', ')
  throw new StepFailed('IdentityUnconfirmed', `the mount on ${target} (${devices}) is gone since the plan was made`, {
    hint: 'Plan again: the new plan finds what is left.',
  })
}

/** The SCSI disks that udev's links name exactly; for a multipath map, its paths. */
function linkedDisks(disk: FcDisk, { host: { blockTree } }: StepContext): Set<string> {
  const found = (['by-path', 'by-id'] as const).flatMap((directory) =>
    blockTree.links(directory).filter(({ link }) => isFcLink(disk, directory, link)),
  )
  return new Set(found.flatMap(({ name }) => disksBehind(name, blockTree)))
}
