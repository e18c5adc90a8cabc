/** Flushing and removing SCSI disks that nothing uses: multipath maps first, then each path (P76, P81, S25). */

import { usersOfDisks } from './disk-users.ts'
import type { CommandResult } from './host.ts'
import { StepFailed } from './operation-error.ts'
import { command, wordsOf } from './step-command.ts'
import type { StepContext } from './step-context.ts'

const HINT = 'End that use; then plan again: the directory is kept, and tells what is left to do.'

/**
 * Every name is one that sysfs gave for exactly this volume. Whether anyone uses them is asked once more right before
 * anything is removed, and truth about a removal is sysfs, not an exit status (S26).
 *
 * @throws StepFailed HeldBy, ForeignDevice, TimedOut, CommandFailed: what is not removed stays whole
 */
export async function removeDisks(disks: readonly string[], run: StepContext): Promise<void> {
  const { blockTree } = run.host
  const here = disks.filter((name) => blockTree.node(name) !== undefined)
  const seen = new Map(here.map((name) => [name, identityOf(name, run)]))
  await requireDisksUnused(here, run)
  for (const map of mapsOver(here, run)) await flushMap(map, run)
  for (const disk of here) {
    // What it could not flush nobody can write any more: the file system is unmounted, the map closed (P81).
    await command(run, 'blockdev', ['--flushbufs', `/dev/${disk}`])
    run.around.changed()
    await requireDisksUnused([disk], run)
    requireSame(disk, seen.get(disk), run)
    const file = blockTree.deletePath(disk)
    run.say(`1 to ${file}`)
    // By a child: on a path that is dead the write waits for the device.
    const result = await command(run, 'tee', ['--', file], '1')
    if (blockTree.node(disk) !== undefined)
      throw failed(`${disk} is still there after 1 was written to ${file}`, result)
  }
}

/** A name may be given to another device while a map is flushed; number and SCSI address then differ. */
function identityOf(name: string, { host }: StepContext): string | undefined {
  const node = host.blockTree.node(name)
  return node === undefined ? undefined : `${node.dev} ${node.scsiAddress}`
}

function requireSame(name: string, seen: string | undefined, run: StepContext): void {
  const now = identityOf(name, run)
  if (now === undefined || now === seen) return
  throw new StepFailed('ForeignDevice', `${name} is another device than a moment ago`, { hint: 'Plan again.' })
}

/** @throws StepFailed HeldBy */
export async function requireDisksUnused(disks: readonly string[], run: StepContext): Promise<void> {
  const [user] = await usersOfDisks(disks, run)
  if (user === undefined) return
  throw new StepFailed('HeldBy', `${disks.join(', ')} is still in use: ${user.who}`, { hint: HINT })
}

/** Maps made of these disks and of nothing else; all of a map's paths are this volume's, or it is left alone. */
function mapsOver(disks: readonly string[], { host: { blockTree } }: StepContext): string[] {
  const maps = new Set(disks.flatMap((disk) => blockTree.node(disk)?.holders ?? []))
  for (const map of maps) {
    const node = blockTree.node(map)
    const other = node?.slaves.find((slave) => !disks.includes(slave))
    if (node?.isMultipath && other === undefined) continue
    throw new StepFailed(
      'ForeignDevice',
      `${map} is made of ${disks.join(', ')} and of ${other ?? 'something unknown'}`,
      {
        hint: `Find out what it is (multipath -ll, dmsetup info /dev/${map}); flush it yourself, then plan again.`,
      },
    )
  }
  return [...maps]
}

async function flushMap(map: string, run: StepContext): Promise<void> {
  const result = await command(run, 'multipath', ['-f', `/dev/${map}`])
  if (run.host.blockTree.node(map) === undefined) return
  throw failed(`multipath map ${map} is still there after multipath -f`, result)
}

function failed(message: string, result: CommandResult): StepFailed {
  return new StepFailed('CommandFailed', `${message}: ${wordsOf(result)}`, { hint: HINT })
}
