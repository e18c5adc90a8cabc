/** Steps and obstacles of unmounting what is stacked on one path (S18, S19, S20, R819, P120). */
import type { MountInfo } from '../mountinfo/mount-table.ts'
import type { Step } from '../plan/plan.ts'
import type { PlanContext } from './context.ts'
import type { Obstacle } from './draft.ts'

/** One umount a layer, newest first. A flag may ask for a forced or lazy one on this very path. */
export function umountSteps(context: PlanContext, path: string, layers: readonly MountInfo[]): Step[] {
  const detail = umountDetail(context, path)
  return layers.map(() => ({ op: 'umount', target: path, ...(detail === undefined ? {} : { detail }) }))
}

function umountDetail({ options, inputs }: PlanContext, path: string): string | undefined {
  if (options.lazy.includes(path)) return 'lazy'
  if (options.forceUnmount.includes(path)) return 'force'
  return inputs.deadError(inputs.relative(path)) === undefined ? undefined : 'dead'
}

/**
 * S18: each layer of a stack must show the same device and root; one mount alone at a volume's own path is the volume.
 * A mount shown to be dead is never foreign here (O20).
 * @param allowed file system types that may be mounted there at all; undefined: any
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
      code: 'NotDead',
      message: `--lazy ${path}: the mount is not shown to be dead`,
      hint: 'Unmount it plainly.',
    }
  }
  if (dead) return undefined
  const [first] = layers
  if (first === undefined) return undefined
  const other = layers.find((layer) => layer.dev !== first.dev || layer.root !== first.root)
  if (other !== undefined) return foreign(path, other, 'is stacked on another file system')
  if (allowed !== undefined && !allowed.includes(first.fsType))
    return foreign(path, first, 'is not what this volume mounts')
  return undefined
}

export function foreignObstacle(context: PlanContext, mounts: readonly MountInfo[]): Obstacle | undefined {
  const [mount] = mounts
  return mount === undefined ? undefined : foreign(context.inputs.plain(mount.mountPoint), mount, "is not the volume's")
}

function foreign(path: string, mount: MountInfo, what: string): Obstacle {
  return {
    code: 'ForeignMount',
    message: `${mount.fsType} mount of ${mount.source}${mount.root === '/' ? '' : ` (${mount.root})`} on ${path} ${what}`,
    hint: `Find out who mounted it (findmnt ${path}); unmount it yourself if nothing needs it.`,
  }
}
