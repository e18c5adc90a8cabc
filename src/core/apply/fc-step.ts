/** Releasing a Fibre Channel LUN: the SCSI disks of what was mounted or mapped (P81, P84, S25). */
import { posix } from 'node:path'
import { isFcLink, parseFcDirectory } from '../fc-disk.ts'
import type { Step } from '../plan/plan.ts'
import { describeMount } from './expected-mounts.ts'
import { disksBehind, mountedDisks } from './mounted-disks.ts'
import { StepFailed } from './operation-error.ts'
import { removeDisks } from './remove-disks.ts'
import { seeDisks } from './seen-disks.ts'
import type { StepContext } from './step-context.ts'

/**
 * The device is the mount's, not the directory's name. Where nothing was mounted any more, as after a tear-down that was
 * ended half-way, it is the one that udev's links name whole.
 */
export async function deleteFcDevices({ target }: Step, run: StepContext): Promise<void> {
  const mount = run.around.table.at(target).at(-1)
  if (mount !== undefined) throw new StepFailed('StillMounted', `${describeMount(mount)} is still there`)
  const mounted = mountedDisks(run)
  const linked = linkedDisks(target, run)
  if (mounted.size === 0 && linked.size === 0) requireNothingMountedSince(target, run)
  // Where udev names the volume's device at all, what was mounted must be that one.
  const stranger = linked.size === 0 ? undefined : [...mounted].find((disk) => !linked.has(disk))
  if (stranger !== undefined) {
    throw new StepFailed('ForeignDevice', `${stranger} is not a device of ${posix.basename(target)}`, {
      hint: 'Find out what was mounted there (lsblk, ls -l /dev/disk/by-path); release it yourself, then remove the directory.',
    })
  }
  await removeDisks(seeDisks([...(mounted.size > 0 ? mounted : linked)], run), run)
}

/** What the plan saw mounted, somebody else unmounted: whether its disks went as well nothing tells. */
function requireNothingMountedSince(target: string, { record }: StepContext): void {
  if (record.devices.size === 0 || record.mounted.size > 0) return
  throw new StepFailed(
    'IdentityUnconfirmed',
    `what was mounted on ${target} (${[...record.devices.keys()].join(', ')}) is not there any more, and udev names no disk of it`,
    { hint: 'Plan again: what is left of it is found anew.' },
  )
}

function linkedDisks(target: string, { host: { blockTree } }: StepContext): Set<string> {
  const disk = parseFcDirectory(posix.basename(target))
  if (disk === undefined) return new Set()
  const found = (['by-path', 'by-id'] as const).flatMap((directory) =>
    blockTree.links(directory).filter(({ link }) => isFcLink(disk, directory, link)),
  )
  return new Set(found.flatMap(({ name }) => disksBehind(name, blockTree)))
}
