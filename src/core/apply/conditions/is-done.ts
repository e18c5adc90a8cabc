import { memoize } from '../../base/memoize.ts'
import type { NodeSnapshot, NodeState } from '../../facts/actual/snapshot.ts'
import type { Operation, Step } from '../../plan/plan.ts'

/**
 * True if the node is already as this operation would make it. Used for an operation that a fresh plan no longer has,
 * so that a person who carries out a plan file twice learns that. An effect that the look does not show counts as not
 * done.
 */
export function isDone({ kind, steps }: Operation, state: NodeState): boolean {
  if (steps.length === 0) return false
  const holds = kind === 'MountVolume' || kind === 'MapVolume' ? isMade : isGone
  return steps.every((step) => holds(step, state))
}

/** Nothing is mounted on the path, and the path does not exist. */
function isGone({ op, target }: Step, { snapshot, mounts }: NodeState): boolean {
  if (op === 'deleteVolumeAttachment') {
    const attachments = snapshot.api?.volumeAttachments
    return attachments?.every(({ metadata }) => `volumeattachments/${metadata.name}` !== target) === true
  }
  if (snapshot.tree === undefined) return false
  // A loop device outlives its volume, and then has another backing file.
  if (!target.startsWith(`${snapshot.rootDir}/`)) return op === 'losetup -d'
  return mounts.at(target).length === 0 && !pathsOf(snapshot).has(relativeTo(snapshot, target))
}

/** The operation's mounts exist. Their content is not compared: a wanted volume with other content has an operation. */
function isMade({ op, target }: Step, { snapshot, mounts }: NodeState): boolean {
  if (MOUNTS.has(op)) return mounts.at(target).length > 0
  return op !== 'mkdir' || mounts.at(target).length > 0 || pathsOf(snapshot).has(relativeTo(snapshot, target))
}

const MOUNTS: ReadonlySet<Step['op']> = new Set(['mount', 'mountDevice', 'mapDevice', 'NodePublishVolume'])

const pathsOf = memoize(({ tree }: NodeSnapshot): ReadonlySet<string> => new Set(tree?.map(({ path }) => path)))

function relativeTo({ rootDir }: NodeSnapshot, target: string): string {
  return target.slice(rootDir.length + 1)
}
