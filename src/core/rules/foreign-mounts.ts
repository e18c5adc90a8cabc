/** S18: what is mounted there is the volume, and its path leads to it. */

import { memoize } from '../base/memoize.ts'
import type { ActualInputs } from '../facts/actual/actual-inputs.ts'
import { fileSystemText } from '../linux/file-systems.ts'
import { isSameMount, type MountInfo, type MountTable } from '../linux/mount-table.ts'
import { whoMounted } from '../linux/mount-words.ts'
import { isWithin } from '../linux/paths.ts'
import { goesWith } from '../linux/propagation.ts'
import { causeOf } from '../messages/codes.ts'
import type { Obstacle } from '../plan/draft.ts'
import { SETTING_UP } from '../plan/kinds.ts'
import type { ExpectedMount } from '../plan/plan.ts'
import { lostAtStart, type PlanContext } from '../reconcile/context/context.ts'
import { layersBelowDead, type Stack } from '../reconcile/context/layers.ts'
import type { Facts, Judge } from './rule.ts'

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
    code: 'ForeignMount',
    message: `another mount (${fileSystemText(cover)} on ${cover.mountPoint}) hides ${path}; it cannot be reached`,
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
    return {
      code: 'FlagWithoutEffect',
      message: `--lazy ${path}: nothing shows that this mount is dead`,
    }
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
    code: 'ForeignMount',
    message: `${mount.fsType} mount of ${mount.source}${mount.root === '/' ? '' : ` (${mount.root})`} on ${path} ${what}`,
    hint: whoMounted(path),
  }
}
