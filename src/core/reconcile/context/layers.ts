/** Steps and obstacles of unmounting what is stacked on one path (S18, S19, S20, R819, P120). */

import { defined } from '../../lang/defined.ts'
import { withoutCopies } from '../../mountinfo/copies.ts'
import type { MountInfo } from '../../mountinfo/mount-table.ts'
import { whoMounted } from '../../mountinfo/mount-words.ts'
import type { Obstacle } from '../../plan/draft.ts'
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
      ...defined({ detail: top !== undefined && isSame(layer, top) ? detail : undefined }),
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

/**
 * S18: each layer of a stack must show the same device and root; a single mount at a volume's own path is the volume. A mount
 * that is shown to be dead is never foreign here (O20), a layer below it may be.
 * @param allowed file system types that may be mounted there; undefined: any
 */
export function layerObstacle(
  context: PlanContext,
  path: string,
  layers: readonly MountInfo[],
  allowed?: readonly string[],
): Obstacle | undefined {
  const { inputs, options } = context
  const dead = inputs.deadError(inputs.relative(path)) !== undefined
  if (options.lazy.includes(path) && !dead) {
    return {
      code: 'FlagWithoutEffect',
      message: `--lazy ${path}: nothing shows that this mount is dead`,
      hint: 'Plan without --lazy for this path: a plain unmount is enough.',
    }
  }
  const judged = dead ? layersBelowDead(layers) : layers
  const [first] = judged
  if (first === undefined) return undefined
  // Either of the two layers may be the volume, unless the kubelet alone mounts this type there.
  if (dead && allowed === undefined) return foreign(path, first, 'is below a dead mount of another file system')
  const other = judged.find((layer) => !isSame(layer, first))
  if (other !== undefined) return foreign(path, other, 'is stacked on another file system')
  if (allowed !== undefined && !allowed.includes(first.fsType))
    return foreign(path, first, 'is of a type that this volume never mounts')
  return undefined
}

/** Only the newest mount was probed: a layer of another file system, or of another part of it, may answer. */
export function layersBelowDead(layers: readonly MountInfo[]): MountInfo[] {
  const top = layers.at(-1)
  return layers.filter((layer) => top !== undefined && !isSame(layer, top))
}

function isSame(a: MountInfo, b: MountInfo): boolean {
  return a.dev === b.dev && a.root === b.root
}

export function foreignObstacle(context: PlanContext, mounts: readonly MountInfo[]): Obstacle | undefined {
  const [mount] = mounts
  return mount === undefined
    ? undefined
    : foreign(context.inputs.plain(mount.mountPoint), mount, 'does not belong to the volume')
}

function foreign(path: string, mount: MountInfo, what: string): Obstacle {
  return {
    code: 'ForeignMount',
    message: `${mount.fsType} mount of ${mount.source}${mount.root === '/' ? '' : ` (${mount.root})`} on ${path} ${what}`,
    hint: whoMounted(path),
  }
}
