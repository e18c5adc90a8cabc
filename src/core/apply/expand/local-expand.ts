/** A local volume's file system grows with its device (P71, P131, R462). */

import { StepFailed } from '../../errors/operation-error.ts'
import type { Step } from '../../plan/plan.ts'
import { isOfDevice } from '../disks/mount-device.ts'
import { fileSystemOn } from '../disks/probe-device.ts'
import { type FoundDevice, lookAtSource } from '../disks/source-device.ts'
import { describeMount } from '../operation/expected-mounts.ts'
import { command, firstLineOf } from '../operation/step-command.ts'
import type { StepContext } from '../operation/step-context.ts'
import { claimGrowth, type FinalFailure, growAndTell, NOTHING_ASKED } from './claim-growth.ts'

/** Program and arguments that give a mounted file system all of its device; with nothing to grow they do nothing. */
const GROWERS: Readonly<Record<string, (device: string, path: string) => readonly [string, ...string[]]>> = {
  ext3: (device) => ['resize2fs', device],
  ext4: (device) => ['resize2fs', device],
  xfs: (_, path) => ['xfs_growfs', '-d', path],
  btrfs: (_, path) => ['btrfs', 'filesystem', 'resize', 'max', path],
}

/**
 * What cannot be done is found out before the claim is told that it begins.
 *
 * @returns what was left as it is, and why
 * @throws StepFailed ForeignMount, ExpandFailed, PathUnusable; VolctlError CommandMissing
 */
export async function growFileSystem({ target }: Step, run: StepContext): Promise<string | undefined> {
  const wanted = await claimGrowth(run)
  if (wanted === undefined) return NOTHING_ASKED
  const grow = await grower(target, run.bringUp.wanted?.persistentVolume?.spec.local?.path ?? '', run)
  return growAndTell(wanted, run, grow, failureOf)
}

async function grower(target: string, source: string, run: StepContext): Promise<() => Promise<string | undefined>> {
  const found = await lookAtSource(source, run)
  if (found === 'directory') return async () => `${source} is a directory, which has no size of its own`
  const mounted = requireMounted(target, found, run)
  if (await isReadOnly(found, run)) return async () => `${found.path} is read-only, and was not grown`
  const type = await fileSystemIn(found, mounted, run)
  const [program, ...args] = GROWERS[type]?.(found.path, target) ?? unknownType(found, type)
  run.host.requireCommand(program)
  return async () => {
    const result = await command(run, program, args)
    if (result.status === 0) return undefined
    throw failed(`${program} of ${found.path}: ${firstLineOf(result)}`)
  }
}

/** @returns the type of the file system by the kernel @throws StepFailed ForeignMount where the pod's mount is not of the device */
function requireMounted(target: string, device: FoundDevice, { around, host }: StepContext): string {
  const top = around.table.top(target)
  if (top !== undefined && isOfDevice(top, device, host)) return top.fsType
  const what = top === undefined ? 'nothing is mounted there' : `${describeMount(top)} is there`
  throw new StepFailed('ForeignMount', `${target}: ${what}, and ${device.path} is to grow`, {
    hint: 'The PersistentVolume names another device than the one that is mounted: find out which is right.',
  })
}

async function isReadOnly({ path }: FoundDevice, run: StepContext): Promise<boolean> {
  const result = await command(run, 'blockdev', ['--getro', path])
  if (result.status === 0) return result.stdout.trim() === '1'
  throw failed(`blockdev --getro ${path}: ${firstLineOf(result)}`)
}

/** What is mounted has a file system: nobody is told to make one. */
async function fileSystemIn({ path }: FoundDevice, mounted: string, run: StepContext): Promise<string> {
  try {
    return await fileSystemOn(path, mounted, run)
  } catch (error) {
    if (!(error instanceof StepFailed) || (error.code !== 'NoFileSystem' && error.code !== 'PartitionTable'))
      throw error
    throw failed(`${path} is mounted as ${mounted}, and blkid finds no such file system on it`)
  }
}

function unknownType({ path }: FoundDevice, type: string): never {
  throw new StepFailed('ExpandFailed', `${path} has a ${type} file system, which cannot be grown here`, {
    hint: 'Only ext3, ext4, xfs and btrfs are grown on a node: grow it yourself.',
  })
}

function failed(message: string): StepFailed {
  return new StepFailed('ExpandFailed', message, {
    hint: 'Look at the file system and what the kernel says of it (dmesg); then plan again.',
  })
}

/** Of a program that was given up nothing is known. */
function failureOf(error: unknown): FinalFailure | undefined {
  if (!(error instanceof StepFailed) || error.code !== 'ExpandFailed') return undefined
  return { message: error.message, infeasible: false }
}
