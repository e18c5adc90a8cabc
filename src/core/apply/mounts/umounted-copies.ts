/** After an umount, checks that the copies of the mount are gone as well (O35). */

import { StepFailed } from '../../errors/operation-error.ts'
import type { MountInfo } from '../../mountinfo/mount-table.ts'
import { whoMounted } from '../../mountinfo/mount-words.ts'
import { describeMount } from '../operation/expected-mounts.ts'
import type { StepContext } from '../operation/step-context.ts'

/**
 * The kernel keeps a copy on which something else is mounted.
 *
 * @param copies as they were before the umount
 * @throws StepFailed HeldBy
 */
export function requireCopiesGone(copies: readonly MountInfo[], { around }: StepContext): void {
  const stays = copies.find(({ id, dev, mountPoint }) => {
    const now = around.table.byId(id)
    return now?.mountPoint === mountPoint && now.dev === dev
  })
  if (stays === undefined) return
  const upper = around.table.under(stays.mountPoint).find(({ parentId }) => parentId === stays.id)
  const why = upper === undefined ? '' : `: ${describeMount(upper)} is mounted on it`
  throw new StepFailed('HeldBy', `a copy of the mount remains, the ${describeMount(stays)}${why}`, {
    hint: whoMounted(stays.mountPoint),
  })
}
