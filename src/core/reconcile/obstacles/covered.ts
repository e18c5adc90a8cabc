/** S18: nothing is done to a mount that another one hides; its path leads to the other one. */
import { onceFor } from '../../lang/once-for.ts'
import { Covers } from '../../mountinfo/covers.ts'
import type { MountInfo, MountTable } from '../../mountinfo/mount-table.ts'
import { goesWith } from '../../mountinfo/propagation.ts'
import type { Draft, Obstacle } from '../../plan/draft.ts'
import type { ExpectedMount } from '../../plan/plan.ts'
import type { PlanContext } from '../context/context.ts'
import { whoMounted } from '../context/hints.ts'

const coversOf = onceFor((mounts: MountTable) => new Covers(mounts))

export function coveredObstacle({ inputs: { mounts } }: PlanContext, { expects = [] }: Draft): Obstacle | undefined {
  for (const { path, layers } of expects) {
    const cover = layers.length === 0 ? undefined : coverOf(mounts, path, layers)
    if (cover === undefined) continue
    return {
      code: 'ForeignMount',
      message: `another mount (${cover.fsType} of ${cover.source} on ${cover.mountPoint}) hides ${path}; it cannot be reached`,
      hint: whoMounted(cover.mountPoint),
    }
  }
  return undefined
}

/**
 * Below a shared directory that is bind-mounted on itself, every mount has a hidden copy that goes away with it: such a copy
 * is no obstacle, any other hidden mount is.
 */
function coverOf(mounts: MountTable, path: string, expected: ExpectedMount['layers']): MountInfo | undefined {
  const covers = coversOf(mounts)
  const stacked = mounts.at(path)
  const covered = stacked.filter((mount) => covers.of(mount) !== undefined)
  if (covered.length === 0) return undefined
  const hidden = new Set(covered)
  const reached = stacked.filter((mount) => !hidden.has(mount))
  const stays = covered.find(
    (mount) => expected.some(({ id }) => id === mount.id) && !reached.some((each) => goesWith(mounts, each, mount)),
  )
  return stays && covers.of(stays)
}
