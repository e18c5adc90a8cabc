/** Where an operation is: what is mounted there is the volume, its path leads to it (S18), and nothing else is in the way. */

import { posix } from 'node:path'
import { memoize } from '../base/collections.ts'
import { containingMount, fileSystemText } from '../linux/location.ts'
import { isSameMount, type MountInfo, type MountTable, whoMounted } from '../linux/mount-table.ts'
import { isPlainPath, isWithin } from '../linux/paths.ts'
import { goesWith } from '../linux/propagation.ts'
import { causeOf } from '../messages/codes.ts'
import { advice, commandLine } from '../messages/command.ts'
import { said } from '../messages/findings.ts'
import { SETTING_UP } from '../plan/kinds.ts'
import { takenBy } from '../plan/plan-id.ts'
import type { Obstacle } from '../volumes/finding.ts'
import type { ActualInputs } from '../volumes/on-disk/actual-inputs.ts'
import type { InUse } from '../volumes/snapshot.ts'
import type { ExpectedMount } from '../volumes/steps.ts'
import { layersBelowDead, lostAtStart, type PlanContext, type Stack } from './context.ts'
import { describeMount } from './expected-mounts.ts'
import type { Facts, Judge, MachineJudge } from './rule.ts'

/** Nothing is done to a mount that another one hides; its path leads to the other one. */
export const hiddenMount: Judge = ({ operation: { kind, expects = [] }, context }) => {
  const { mounts } = context.inputs
  for (const { path, layers } of expects) {
    const cover = layers.length === 0 ? undefined : coverOf(mounts, path, layers)
    if (cover !== undefined) return hiddenBy(cover, path)
  }
  return SETTING_UP.has(kind) ? hidingPods(context.inputs) : undefined
}

function hiddenBy(cover: MountInfo, path: string): Obstacle {
  return {
    ...said('ForeignMount.hides', { ...cover, fileSystem: fileSystemText(cover), path }),
    hint: whoMounted(cover.mountPoint),
  }
}

/** Where all that is mounted for pods is hidden at once, whatever is set up would lie in what hides it. */
const hidingPods = memoize(({ mounts, rootDir }: ActualInputs): Obstacle | undefined => {
  let found: Obstacle | undefined
  for (const own of mounts.below(`${rootDir}/pods`).values()) {
    for (const mount of own) {
      const cover = coverOf(mounts, mount.mountPoint, [mount])
      if (cover === undefined || !isWithin(`${rootDir}/pods`, cover.mountPoint)) return undefined
      found ??= hiddenBy(cover, mount.mountPoint)
    }
  }
  return found
})

/**
 * Below a shared directory that is bind-mounted on itself, every mount has a hidden copy that goes away with it: such a copy
 * is no obstacle, any other hidden mount is.
 */
function coverOf(mounts: MountTable, path: string, expected: ExpectedMount['layers']): MountInfo | undefined {
  const isHidden = (mount: MountInfo): boolean => mounts.coverOf(mount) !== undefined
  const stacked = mounts.at(path)
  const stays = stacked
    .filter(isHidden)
    .find(
      (mount) =>
        expected.some(({ id }) => id === mount.id) &&
        !stacked.some((each) => !isHidden(each) && goesWith(mounts, each, mount)),
    )
  return stays && mounts.coverOf(stays)
}

/** First of the sub-paths, which are unmounted first. */
export const foreignMount: Judge = (facts) => {
  const { context, subPaths, emptiedByKubelet = false } = facts
  const inSubPaths = subPaths && mountsOf(context, subPaths)
  if (inSubPaths !== undefined) return inSubPaths
  const found = mountsOf(context, facts)
  const isLost = emptiedByKubelet && found !== undefined && causeOf(found.code) === 'foreign'
  return isLost ? lostAtStart(context, found, 'everything in it') : found
}

function mountsOf(context: PlanContext, { foreign = [], mounts = [], allowed }: Facts): Obstacle | undefined {
  const [mount] = foreign
  if (mount !== undefined) return notIts(context.inputs.plain(mount.mountPoint), mount, 'does not belong to the volume')
  for (const stack of mounts) {
    const obstacle = stackObstacle(context, stack, allowed)
    if (obstacle !== undefined) return obstacle
  }
  return undefined
}

/**
 * Each layer of a stack must show the same device and root; a single mount at a volume's own path is the volume. A mount
 * that is shown to be dead is never foreign here (O20), a layer below it may be.
 * @param allowed file system types that may be mounted there; undefined: any
 */
function stackObstacle(
  { inputs, options }: PlanContext,
  { path: at, layers }: Stack,
  allowed: readonly string[] | undefined,
): Obstacle | undefined {
  const path = inputs.absolute(at)
  const dead = inputs.deadError(at) !== undefined
  if (options.lazy.includes(path) && !dead) {
    return said('FlagWithoutEffect.lazy', { path })
  }
  const judged = dead ? layersBelowDead(layers) : layers
  const [first] = judged
  if (first === undefined) return undefined
  // Either of the two layers may be the volume, unless the kubelet alone mounts this type there.
  if (dead && allowed === undefined) return notIts(path, first, 'is below a dead mount of another file system')
  const other = judged.find((layer) => !isSameMount(layer, first))
  if (other !== undefined) return notIts(path, other, 'is stacked on another file system')
  if (allowed !== undefined && !allowed.includes(first.fsType))
    return notIts(path, first, 'is of a type that this volume never mounts')
  return undefined
}

function notIts(path: string, mount: MountInfo, what: string): Obstacle {
  return {
    ...said('ForeignMount.mount', {
      ...mount,
      root: mount.root === '/' ? '' : ` (${mount.root})`,
      path,
      verdict: what,
    }),
    hint: whoMounted(path),
  }
}

// Whether volctl gets where an operation is, and who or what is there: by the last look at the machine, or right before a mount.

/** Paths that contain names, from the API or from below the root directory, that would lead elsewhere. */
export const oddName: Judge = ({ operation: { paths, steps } }) => {
  const odd = paths.find(isOdd) ?? steps.find(({ target }) => isOdd(target))?.target
  if (odd === undefined) return undefined
  return {
    ...said('InvalidPath.name', { value: JSON.stringify(odd) }),
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
  if (there !== undefined) return said('ForeignMount.already', { mount: describeMount(there) })
  const found = host.lstat(path)
  const isFree =
    found?.type === 'dir' ? host.listNames(path).length === 0 : found?.type === 'file' ? found.size === 0 : isDriversOwn
  if (isFree) return undefined
  return said('DataUnderMountPoint.volume', { path, state: found === undefined ? 'does not exist' : 'is not empty' })
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
    ...said('ReadOnlyFileSystem.root', {
      where,
      source,
      mountPoint,
      option,
      optionsOf: ofSuper === undefined ? 'mount' : 'superblock',
    }),
    hint: advice`Look for the error (dmesg), repair the disk, and remount it to write (${commandLine('mount', '-o', 'remount,rw', mountPoint)}).`,
    because: { subject: { path: isRoots ? inputs.rootDir : mountPoint }, follows: isRoots || undefined },
  }
}
