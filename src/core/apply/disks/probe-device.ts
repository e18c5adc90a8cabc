/** Identifies and checks the file system on a device: blkid(8) and fsck(8), never mkfs (P128, S15). */

import { advice, commandLine } from '../../messages/command.ts'
import { StepFailed, said, saidOfAny } from '../../messages/findings.ts'
import { CommandMissing } from '../../trust/programs.ts'
import { command, firstLineOf, type StepContext } from '../operation/step.ts'

/** Exit status of blkid(8): it recognised nothing, or the device could not be read. */
const NOTHING_FOUND = 2
/** Exit status of fsck(8): errors are left. */
const UNCORRECTED = 4

/**
 * The type of the file system on a device.
 *
 * @param wanted the type that the volume is to have
 * @throws StepFailed MountFailed if the device could not be read, FilesystemUnfit if it has none
 */
export async function fileSystemOn(device: string, wanted: string, run: StepContext): Promise<string> {
  const result = await command(run, 'blkid', ['-p', '-s', 'TYPE', '-s', 'PTTYPE', '-o', 'export', device])
  const found = result.status === 0 ? parseExport(result.stdout) : undefined
  if (found === undefined) {
    const isEmpty = result.status === NOTHING_FOUND && result.stderr.trim() === ''
    if (isEmpty) throw await nothingOn(device, wanted, run)
    throw unreadable(device, result.status === 0 ? 'blkid printed something unexpected' : firstLineOf(result))
  }
  const { type, partitionTable } = found
  // The remains of a partition table beside the wanted file system do no harm; the kubelet mounts in any case.
  if (type !== undefined && (partitionTable === undefined || type === wanted)) return type
  if (partitionTable === undefined) throw await nothingOn(device, wanted, run)
  throw new StepFailed(said('FilesystemUnfit.partitions', { device, partitionTable, wanted }), {
    hint: advice`See ${commandLine('lsblk', device)}; correct the PersistentVolume so that it names the partition, then plan again.`,
  })
}

/** Undefined if a line is not in blkid's format. */
function parseExport(text: string): { type?: string; partitionTable?: string } | undefined {
  const lines = text.split('\n').filter((each) => each !== '')
  const found = lines.map((line) => line.split('='))
  if (found.some(({ length }) => length !== 2)) return undefined
  const { TYPE: type, PTTYPE: partitionTable } = Object.fromEntries(found)
  return { type, partitionTable }
}

/**
 * blkid answers the same for a device that it cannot read, so dd tries to read it: volctl must not suggest formatting such a
 * device.
 */
async function nothingOn(device: string, wanted: string, run: StepContext): Promise<StepFailed> {
  const read = await command(run, 'dd', [`if=${device}`, 'of=/dev/null', 'bs=65536', 'count=1'])
  if (read.status !== 0) throw unreadable(device, firstLineOf(read))
  const hint = advice`Make sure that it is the right device and that nothing on it is needed; then run: ${commandLine(`mkfs.${wanted}`, device)}`
  return new StepFailed(said('FilesystemUnfit.none', { device, wanted }), { hint })
}

function unreadable(device: string, why: string): StepFailed {
  return new StepFailed(saidOfAny('MountFailed', 'unread', { object: device, why }))
}

/**
 * Has fsck correct small errors. As with the kubelet, only remaining errors stop the mount, not a checker that is missing or
 * cannot check.
 *
 * @returns what was corrected, or why nothing was checked, as text; undefined: nothing to report
 * @throws StepFailed FilesystemUnfit
 */
export async function checkFileSystem(device: string, run: StepContext): Promise<string | undefined> {
  try {
    run.host.requireCommand('fsck')
  } catch (error) {
    if (error instanceof CommandMissing) return `${device} was not checked: fsck is not installed`
    throw error
  }
  const result = await command(run, 'fsck', ['-a', device])
  if (result.status === 0) return undefined
  if (result.status !== UNCORRECTED) return `fsck of ${device}: ${firstLineOf(result)}`
  throw new StepFailed(said('FilesystemUnfit.errors', { device, output: firstLineOf(result) }), {
    hint: advice`Make a copy, then repair it yourself: ${commandLine('fsck', device)}`,
  })
}
