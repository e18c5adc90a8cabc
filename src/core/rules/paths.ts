/** Whether volctl gets where an operation is, and who or what is there: by the last look at the machine, or right before a mount. */

import { posix } from 'node:path'
import { commandLine } from '../base/command.ts'
import { memoize } from '../base/memoize.ts'
import type { ActualInputs } from '../facts/actual/actual-inputs.ts'
import type { InUse } from '../facts/actual/snapshot.ts'
import { containingMount } from '../linux/location.ts'
import type { MountInfo } from '../linux/mount-table.ts'
import { isPlainPath, isWithin } from '../linux/paths.ts'
import type { Obstacle } from '../plan/draft.ts'
import { takenBy } from '../plan/plan-id.ts'
import { describeMount } from './expected-mounts.ts'
import type { Judge, MachineJudge } from './rule.ts'

/** Paths that contain names, from the API or from below the root directory, that would lead elsewhere. */
export const oddName: Judge = ({ operation: { paths, steps } }) => {
  const odd = paths.find(isOdd) ?? steps.find(({ target }) => isOdd(target))?.target
  if (odd === undefined) return undefined
  return {
    code: 'InvalidPath',
    message: `a name in a path of this operation would lead elsewhere: ${JSON.stringify(odd)}`,
    hint: 'Look at the names in the pod, its volumes and its annotations.',
  }
}

function isOdd(path: string): boolean {
  return path.startsWith('/') && !isPlainPath(path)
}

/** What a live look found by the rules of the machine (in-use.ts). */
export const inUse: Judge = ({ operation, context }) => {
  const { inUse: all } = context.inputs.snapshot
  const found = all && byOperation(all).get(takenBy(operation))
  if (found === undefined) return undefined
  const { message, hint, users } = found
  // A word of a newer version still says that it is in use.
  return { code: IN_USE.find((each) => each === found.code) ?? 'HeldBy', message, hint, users }
}

export const IN_USE = ['HeldBy', 'UsersUnknown', 'DeviceUnknown'] as const satisfies readonly InUse['code'][]

const byOperation = memoize(
  (inUse: readonly InUse[]): ReadonlyMap<string, InUse> =>
    new Map(inUse.map((each) => [`${each.kind} ${each.target}`, each])),
)

/** Mounted is over an empty directory or file, on which nothing is mounted yet, but for what others hide. */
export const takenTarget: MachineJudge = ({ target, around, host }) => {
  if (target === undefined) return undefined
  const { path, isDriversOwn } = target
  const there = around.table.top(path)
  if (there !== undefined) return { code: 'ForeignMount', message: `${describeMount(there)} is there already` }
  const found = host.lstat(path)
  const isFree =
    found?.type === 'dir' ? host.listNames(path).length === 0 : found?.type === 'file' ? found.size === 0 : isDriversOwn
  if (isFree) return undefined
  return { code: 'DataUnderMountPoint', message: `${path} ${found === undefined ? 'does not exist' : 'is not empty'}` }
}

// Read-only file systems: what the kernel made so after an error, or a person by its mount.

/** File systems that are always read-only. */
const READ_ONLY_TYPES: ReadonlySet<string> = new Set(['iso9660', 'squashfs', 'erofs', 'cramfs', 'romfs'])

/** The superblock's option that shows a read-only file system; undefined: there is no such option. */
export function whyReadOnly({ fsType, superOptions }: MountInfo): string | undefined {
  if (READ_ONLY_TYPES.has(fsType)) return undefined
  // ext4 of newer kernels keeps "rw", and adds another option.
  return ['ro', 'emergency_ro', 'shutdown'].find((option) => superOptions.includes(option))
}

/** Nothing can be made or removed there: known before anything is half done. */
export const readOnly: Judge = ({ operation: { kind, steps }, context: { inputs } }) => {
  const target = steps.find((step) => isWithin(step.target, inputs.rootDir))?.target
  return target === undefined
    ? undefined
    : readOnlyPlace(inputs, kind === 'RemountVolume' ? target : posix.dirname(target))
}

/** Why: its file system, or only its mount, is read-only. */
export function readOnlyPlace(inputs: ActualInputs, path: string) {
  const mount = containingMount(inputs.mounts, path)
  const ofSuper = mount && whyReadOnly(mount)
  const option = ofSuper ?? (mount?.options.includes('ro') ? 'ro' : undefined)
  if (mount === undefined || option === undefined) return undefined
  const { source, mountPoint } = mount
  const isRoots = mount === containingMount(inputs.mounts, inputs.rootDir)
  const where = isRoots ? `the kubelet's root directory ${inputs.rootDir}` : mountPoint
  return {
    code: 'ReadOnlyFileSystem',
    message: `${where} is on a read-only file system (${source} on ${mountPoint}, ${option} in its ${ofSuper === undefined ? 'mount' : 'superblock'} options): no volume can be set up or cleaned up`,
    hint: `Look for the error (dmesg), repair the disk, and remount it to write (${commandLine('mount', '-o', 'remount,rw', mountPoint)}).`,
    because: { subject: { path: isRoots ? inputs.rootDir : mountPoint }, ...(isRoots && { follows: true as const }) },
  } as const satisfies Obstacle
}
