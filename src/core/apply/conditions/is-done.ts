import { onceFor } from '../../lang/once-for.ts'
import type { NodeState } from '../../model/node-state.ts'
import type { NodeSnapshot } from '../../model/snapshot.ts'
import type { Operation, Step } from '../../plan/plan.ts'

/**
 * Is the node as this operation would make it? Asked of an operation that a fresh plan does not have any more, so that a
 * person who carries out a plan file twice is told so. What a look does not show is not done.
 */
export function isDone({ kind, steps }: Operation, state: NodeState): boolean {
  if (steps.length === 0) return false
  const holds = kind === 'MountVolume' || kind === 'MapVolume' ? isMade : isGone
  return steps.every((step) => holds(step, state))
}

/** Nothing is mounted there, and it does not exist. */
function isGone({ op, target }: Step, { snapshot, mounts }: NodeState): boolean {
  if (op === 'deleteVolumeAttachment') {
    const attachments = snapshot.api?.volumeAttachments
    return attachments?.every(({ metadata }) => `volumeattachments/${metadata.name}` !== target) === true
  }
  if (snapshot.tree === undefined) return false
  // A loop device outlives its volume, and has another backing file then.
  if (!target.startsWith(`${snapshot.rootDir}/`)) return op === 'losetup -d'
  return mounts.at(target).length === 0 && !pathsOf(snapshot).has(relativeTo(snapshot, target))
}

/** What it mounts is mounted. Which content that shows nobody asks here: a wanted volume that lacks it has an operation. */
function isMade({ op, target }: Step, { snapshot, mounts }: NodeState): boolean {
  if (MOUNTS.has(op)) return mounts.at(target).length > 0
  return op !== 'mkdir' || mounts.at(target).length > 0 || pathsOf(snapshot).has(relativeTo(snapshot, target))
}

const MOUNTS: ReadonlySet<Step['op']> = new Set(['mount', 'mountDevice', 'mapDevice', 'NodePublishVolume'])

const pathsOf = onceFor(({ tree }: NodeSnapshot): ReadonlySet<string> => new Set(tree?.map(({ path }) => path)))

function relativeTo({ rootDir }: NodeSnapshot, target: string): string {
  return target.slice(rootDir.length + 1)
}
