/** Expands the file system of a local volume to the size of its device (P71, P131, R462). */

import { StepFailed } from '../../base/operation-error.ts'
import type { Step } from '../../plan/plan.ts'
import { describeMount } from '../../rules/expected-mounts.ts'
import { isOfDevice } from '../disks/mount-device.ts'
import { probe } from '../disks/probe-device.ts'
import { type FoundDevice, lookAtSource } from '../disks/source-device.ts'
import { command, firstLineOf } from '../operation/step-command.ts'
import type { StepContext } from '../operation/step-context.ts'
import { claimGrowth, type FinalFailure, growAndReport, NOTHING_ASKED } from './claim-growth.ts'

/** Program and arguments that expand a mounted file system to the size of its device; they do nothing if it has that size. */
const GROWERS: Readonly<Record<string, (device: string, path: string) => readonly [string, ...string[]]>> = {
  ext3: (device) => ['resize2fs', device],
  ext4: (device) => ['resize2fs', device],
  xfs: (_, path) => ['xfs_growfs', '-d', path],
  btrfs: (_, path) => ['btrfs', 'filesystem', 'resize', 'max', path],
}

/**
 * Everything that can fail is checked before the claim's status says that the expansion is in progress.
 *
 * @returns what was left unchanged, and why
 * @throws StepFailed ForeignMount, ExpandFailed, InvalidPath; VolctlError CommandMissing
 */
export async function growFileSystem({ target }: Step, run: StepContext): Promise<string | undefined> {
  const wanted = await claimGrowth(run)
  if (wanted === undefined) return NOTHING_ASKED
  const grow = await grower(target, run.bringUp.wanted?.persistentVolume?.spec.local?.path ?? '', run)
  return growAndReport(wanted, run, grow, failureOf)
}

async function grower(target: string, source: string, run: StepContext): Promise<() => Promise<string | undefined>> {
  const found = await lookAtSource(source, run)
  if (found === 'directory') return async () => `${source} is a directory, which has no size of its own`
  const mounted = requireMounted(target, found, run)
  if (await isReadOnly(found, run)) return async () => `${found.path} is read-only, and was not expanded`
  const type = await fileSystemIn(found, mounted, run)
  const [program, ...args] = GROWERS[type]?.(found.path, target) ?? unknownType(found, type)
  run.host.requireCommand(program)
  return async () => {
    const result = await command(run, program, args)
    if (result.status === 0) return undefined
    throw new ExpandFailed(`${program} of ${found.path}: ${firstLineOf(result)}`)
  }
}

/**
 * @returns the file system type that the kernel shows @throws StepFailed ForeignMount if the pod's mount is not of the device
 */
function requireMounted(target: string, device: FoundDevice, { around, host }: StepContext): string {
  const top = around.table.top(target)
  if (top !== undefined && isOfDevice(top, device, host)) return top.fsType
  const what = top === undefined ? 'nothing is mounted there' : `${describeMount(top)} is there`
  throw new StepFailed('ForeignMount', `${target}: ${what}, but ${device.path} is to be expanded`, {
    hint: 'The PersistentVolume names another device than the one that is mounted: find out which is right.',
  })
}

async function isReadOnly({ path }: FoundDevice, run: StepContext): Promise<boolean> {
  const result = await command(run, 'blockdev', ['--getro', path])
  if (result.status === 0) return result.stdout.trim() === '1'
  throw new ExpandFailed(`blockdev --getro ${path}: ${firstLineOf(result)}`)
}

/** The device is mounted, so it has a file system: the hint to create one would be wrong. */
async function fileSystemIn({ path }: FoundDevice, mounted: string, run: StepContext): Promise<string> {
  const found = await probe(path, mounted, run)
  if (found.type !== undefined) return found.type
  throw new ExpandFailed(`${path} is mounted as ${mounted}, but blkid finds no such file system on it`)
}

function unknownType({ path }: FoundDevice, type: string): never {
  throw new ExpandFailed(`${path} has a ${type} file system, which volctl cannot expand`, {
    hint: 'volctl expands ext3, ext4, xfs and btrfs only: expand it yourself.',
  })
}

class ExpandFailed extends StepFailed {
  constructor(message: string, options: { readonly hint?: string } = {}) {
    super('ExpandFailed', message, options)
  }
}

/** A failure is final only if the program was not ended from outside. */
function failureOf(error: unknown): FinalFailure | undefined {
  if (!(error instanceof ExpandFailed)) return undefined
  return { message: error.message, infeasible: false }
}
