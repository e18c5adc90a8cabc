/** What is on a device, and is it sound: blkid(8) and fsck(8), never mkfs (P128, S15). */
import { VolctlError } from '../../errors/errors.ts'
import { StepFailed } from '../../errors/operation-error.ts'
import { command, firstLineOf } from '../operation/step-command.ts'
import type { StepContext } from '../operation/step-context.ts'

/** blkid(8): nothing that it knows is on the device, or it could not be read. */
const NOTHING_FOUND = 2
/** fsck(8): errors are left. */
const UNCORRECTED = 4

/**
 * The type of the file system on a device.
 *
 * @param wanted the type that the volume is to have
 * @throws StepFailed NoFileSystem, PartitionTable; MountFailed where the device could not be read
 */
export async function fileSystemOn(device: string, wanted: string, run: StepContext): Promise<string> {
  const result = await command(run, 'blkid', ['-p', '-s', 'TYPE', '-s', 'PTTYPE', '-o', 'export', device])
  const found = result.status === 0 ? parseExport(result.stdout) : undefined
  if (found === undefined) {
    const isEmpty = result.status === NOTHING_FOUND && result.stderr.trim() === ''
    if (isEmpty) throw await nothingOn(device, wanted, run)
    throw unreadable(device, result.status === 0 ? 'blkid said what it never says' : firstLineOf(result))
  }
  const { type, partitionTable } = found
  // Remains of a table beside the wanted file system hurt nobody; the kubelet tries to mount in every case.
  if (type !== undefined && (partitionTable === undefined || type === wanted)) return type
  if (partitionTable === undefined) throw await nothingOn(device, wanted, run)
  throw new StepFailed(
    'PartitionTable',
    `${device} has a partition table (${partitionTable}) where a ${wanted} file system is wanted`,
    { hint: `Look at it (lsblk ${device}); let the PersistentVolume name the partition, then plan again.` },
  )
}

/** Undefined where a line is none of blkid's. */
function parseExport(text: string): { type?: string; partitionTable?: string } | undefined {
  const found: { type?: string; partitionTable?: string } = {}
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const [key, value, ...more] = line.split('=')
    if (value === undefined || more.length > 0) return undefined
    if (key === 'TYPE') found.type = value
    else if (key === 'PTTYPE') found.partitionTable = value
  }
  return found
}

/** blkid says the same of a device that it cannot read: nobody is told to format such a one. */
async function nothingOn(device: string, wanted: string, run: StepContext): Promise<StepFailed> {
  const read = await command(run, 'dd', [`if=${device}`, 'of=/dev/null', 'bs=65536', 'count=1'])
  if (read.status !== 0) return unreadable(device, firstLineOf(read))
  return new StepFailed('NoFileSystem', `nothing that blkid(8) knows is on ${device}, and ${wanted} is wanted there`, {
    hint: `Make sure that it is the right device and that nothing on it is needed; then run: mkfs.${wanted} ${device}`,
  })
}

function unreadable(device: string, words: string): StepFailed {
  return new StepFailed('MountFailed', `what is on ${device} could not be read: ${words}`, {
    hint: 'See what the kernel says of the device (dmesg), then plan again.',
  })
}

/**
 * Has small errors corrected. Only errors that are left stop the mount: a checker that is missing, or cannot check, does
 * not, as with the kubelet.
 *
 * @returns what it corrected or why it did not check, in words; undefined: nothing to say
 * @throws StepFailed HasFilesystemErrors
 */
export async function checkFileSystem(device: string, run: StepContext): Promise<string | undefined> {
  try {
    run.host.requireCommand('fsck')
  } catch (error) {
    if (error instanceof VolctlError && error.code === 'CommandMissing') return `${device} is not checked: no fsck here`
    throw error
  }
  const result = await command(run, 'fsck', ['-a', device])
  if (result.status === 0) return undefined
  if (result.status !== UNCORRECTED) return `fsck of ${device}: ${firstLineOf(result)}`
  throw new StepFailed('HasFilesystemErrors', `fsck left errors on ${device}: ${firstLineOf(result)}`, {
    hint: `Make a copy, then repair it yourself: fsck ${device}`,
  })
}
