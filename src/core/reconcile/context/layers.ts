/** Steps that unmount what is stacked on one path (S19, S20, R819, P120). */

import { omitUndefined } from '../../base/omit-undefined.ts'
import { withoutCopies } from '../../linux/copies.ts'
import { isSameMount, type MountInfo } from '../../linux/mount-table.ts'
import type { Step } from '../../plan/plan.ts'
import type { PlanContext } from './context.ts'

/** What is mounted on one path, oldest first. */
export interface Stack {
  /** Absolute. */
  readonly path: string
  readonly layers: readonly MountInfo[]
}

/**
 * One umount per layer, newest first: below a root directory that is bind-mounted on itself, copies go away with their mounts
 * (O35). A flag may ask for a forced or lazy umount of the mount that this path shows.
 */
export function umountSteps(context: PlanContext, path: string, layers: readonly MountInfo[]): Step[] {
  const detail = umountDetail(context, path)
  const top = layers.at(-1)
  return ownOf(context, path, layers)
    .toReversed()
    .map((layer) => ({
      op: 'umount',
      target: path,
      // A layer of another file system is neither dead nor meant by the flag.
      ...omitUndefined({ detail: isSameMount(top, layer) ? detail : undefined }),
    }))
}

function ownOf({ inputs: { mounts } }: PlanContext, path: string, layers: readonly MountInfo[]): readonly MountInfo[] {
  const all = mounts.at(path)
  // A mount alone on its path is no copy; nearly every one is.
  if (all.length < 2) return layers
  const own = withoutCopies(mounts, path)
  const copies = all.filter((mount) => !own.includes(mount))
  return copies.length === 0 ? layers : layers.filter((layer) => !copies.includes(layer))
}

function umountDetail({ options, inputs }: PlanContext, path: string): string | undefined {
  if (options.lazy.includes(path)) return 'lazy'
  if (options.forceUnmount.includes(path)) return 'force'
  return inputs.deadError(inputs.relative(path)) === undefined ? undefined : 'dead'
}

/** Only the newest mount was probed: a layer of another file system, or of another part of it, may answer. */
export function layersBelowDead(layers: readonly MountInfo[]): MountInfo[] {
  const top = layers.at(-1)
  return layers.filter((layer) => !isSameMount(top, layer))
}
