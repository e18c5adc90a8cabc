/** Flushes and removes SCSI disks that nothing uses: multipath maps first, then each path (P76, P81, S25). */

import { StepFailed, said } from '../../messages/findings.ts'
import { fcDisks, mapsOver, stillThere } from '../../rules/luns.ts'
import type { Lun, SeenDisk } from '../../rules/machine-facts.ts'
import type { CommandResult } from '../../trust/programs.ts'
import type { Step } from '../../volumes/steps.ts'
import { command, firstLineOf, requireRulesOf, type StepContext } from '../operation/step.ts'

/** Releases a Fibre Channel LUN: removes the SCSI disks of what was mounted or mapped. */
export async function removeFcDisks({ target }: Step, run: StepContext): Promise<void> {
  await removeDisks(fcDisks(target, run), run)
}

/**
 * Removes disks that sysfs shows to be exactly this volume's. Whether a removal worked is read from sysfs, not from an exit status
 * (S26).
 *
 * @throws StepFailed what a rule holds back, TimedOut, CommandFailed; disks that are not removed stay untouched
 */
export async function removeDisks(disks: readonly SeenDisk[], run: StepContext): Promise<void> {
  const here = await requireRelease({ disks }, run)
  const maps = mapsOver(here, run.host)
  if (maps.length > 0) run.host.requireCommand('multipath')
  for (const map of maps) {
    const now = await requireRelease({ disks: here }, run)
    if (mapsOver(now, run.host).includes(map)) await flushMap(map, run)
  }
  for (const disk of here) await removeDisk(disk, run)
}

/** Asked before each change, since the previous one may have taken minutes. @returns the disks that are still there */
export async function requireRelease(lun: Lun, run: StepContext): Promise<readonly SeenDisk[]> {
  run.around.changed()
  await requireRulesOf('release', { lun }, run)
  return stillThere(lun.disks, run.host)
}

async function removeDisk(disk: SeenDisk, run: StepContext): Promise<void> {
  const { blockTree } = run.host
  const { name } = disk
  const isThere = async (): Promise<boolean> => (await requireRelease({ disks: [disk] }, run)).length > 0
  if (!(await isThere())) return
  // A failure to flush does not matter: the file system is unmounted and the map closed, so nothing is left to write (P81).
  await command(run, 'blockdev', ['--flushbufs', `/dev/${name}`])
  if (!(await isThere())) return
  await requireRulesOf('delete', { lun: { disks: [disk] } }, run)
  const file = blockTree.deletePath(name)
  run.say(`writing 1 to ${file}`)
  // In a child: on a dead path the write hangs.
  const result = await command(run, 'tee', ['--', file], '1')
  if (blockTree.node(name) !== undefined) throw failed(`${name} is still there after 1 was written to ${file}`, result)
}

async function flushMap(map: string, run: StepContext): Promise<void> {
  const result = await command(run, 'multipath', ['-f', `/dev/${map}`])
  if (run.host.blockTree.node(map) === undefined) return
  throw failed(`multipath map ${map} is still there after multipath -f`, result)
}

function failed(message: string, result: CommandResult): StepFailed {
  return new StepFailed(said('CommandFailed.why', { message, output: firstLineOf(result) }))
}
