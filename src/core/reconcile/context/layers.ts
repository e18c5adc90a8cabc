/** Steps that unmount what is stacked on one path (S19, S20, R819, P120). */

import { isSameMount, type MountInfo } from '../../linux/mount-table.ts'
import { withoutCopies } from '../../linux/propagation.ts'
import type { Step } from '../../plan/plan.ts'
import type { PlanContext } from './context.ts'

/** What is mounted on one path, oldest first. */
export interface Stack {
  /** Relative to the root directory. */
  readonly path: string
  readonly layers: readonly MountInfo[]
}

/**
 * One umount per layer, newest first: below a root directory that is bind-mounted on itself, copies go away with their mounts
 * (O35). A flag may ask for a forced or lazy umount of the mount that this path shows.
 */
export function umountSteps(context: PlanContext, stack: Stack): Step[] {
  const { path, layers } = stack
  const detail = umountDetail(context, path)
  const top = layers.at(-1)
  return ownOf(context, stack)
    .toReversed()
    .map((layer) => ({
      op: 'umount',
      target: path,
      // A layer of another file system is neither dead nor meant by the flag.
      detail: isSameMount(top, layer) ? detail : undefined,
    }))
}

function ownOf({ inputs }: PlanContext, { path, layers }: Stack): readonly MountInfo[] {
  const all = inputs.at(path)
  const own = withoutCopies(inputs.mounts, inputs.absolute(path))
  return layers.filter((layer) => own.includes(layer) || !all.includes(layer))
}

function umountDetail({ options, inputs }: PlanContext, path: string): string | undefined {
  const at = inputs.absolute(path)
  if (options.lazy.includes(at)) return 'lazy'
  if (options.forceUnmount.includes(at)) return 'force'
  return inputs.deadError(path) === undefined ? undefined : 'dead'
}

/** Only the newest mount was probed: a layer of another file system, or of another part of it, may answer. */
export function layersBelowDead(layers: readonly MountInfo[]): MountInfo[] {
  const top = layers.at(-1)
  return layers.filter((layer) => !isSameMount(top, layer))
}
