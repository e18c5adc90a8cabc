/** Tears down the sub-path mounts of one volume name (R446, P140; O16, O17, O18). */

import type { SubPathLeaf, SubPaths } from '../../facts/actual/pod-volumes.ts'
import { parentOf } from '../../facts/actual/tree.ts'
import type { MountInfo } from '../../linux/mount-table.ts'
import type { Step } from '../../plan/plan.ts'
import type { PlanContext } from '../context/context.ts'
import { type Stack, umountSteps } from '../context/layers.ts'

export interface SubPathWork {
  readonly steps: readonly Step[]
  readonly mounts: readonly Stack[]
  /** Mounts that are not the volume's. */
  readonly foreign: readonly MountInfo[]
  /** Leaves that are not empty: they stay, and so do their parents. */
  readonly kept: readonly string[]
}

const NO_SUB_PATHS: SubPathWork = {
  steps: [],
  mounts: [],
  foreign: [],
  kept: [],
}

/** Unmounts every leaf, newest first, then removes leaves and directories bottom up. Never descends into a leaf. */
export function subPathWork(context: PlanContext, subPaths: SubPaths | undefined): SubPathWork {
  if (subPaths === undefined) return NO_SUB_PATHS
  const { inputs } = context
  const mounted = subPaths.leaves
    .filter((leaf) => leaf.layers.length > 0)
    .toSorted((a, b) => (b.layers.at(-1)?.index ?? 0) - (a.layers.at(-1)?.index ?? 0))
  const steps: Step[] = mounted.flatMap((leaf) => umountSteps(context, inputs.absolute(leaf.path), leaf.layers))
  const kept = subPaths.leaves
    .filter((leaf) => leaf.layers.length === 0 && !isEmptyLeaf(context, leaf))
    .map((leaf) => leaf.path)
  const removals: Step[] = []
  for (const leaf of subPaths.leaves) {
    if (kept.includes(leaf.path)) continue
    removals.push({ op: leaf.entry?.type === 'file' ? 'unlink' : 'rmdir', target: inputs.absolute(leaf.path) })
  }
  const containers = inputs.tree.childDirs(subPaths.dir).map((name) => `${subPaths.dir}/${name}`)
  const emptied = containers.filter((dir) => emptyAfter(context, dir, subPaths, kept))
  for (const dir of emptied) removals.push({ op: 'rmdir', target: inputs.absolute(dir) })
  const all = inputs.tree.children(subPaths.dir).every((entry) => emptied.includes(entry.path))
  if (all && inputs.tree.isDir(subPaths.dir)) removals.push({ op: 'rmdir', target: inputs.absolute(subPaths.dir) })
  return {
    steps: [...steps, ...removals],
    mounts: mounted.map(({ path, layers }) => ({ path: inputs.absolute(path), layers })),
    foreign: subPaths.foreign,
    kept,
  }
}

/** The mount point that the kubelet makes for a sub-path: an empty directory or an empty file (P136). */
function isEmptyLeaf({ inputs }: PlanContext, { path, entry }: SubPathLeaf): boolean {
  if (entry === undefined) return false
  if (entry.type === 'dir') return inputs.tree.children(path).length === 0 && entry.error === undefined
  return entry.type === 'file' && entry.size === 0
}

function emptyAfter({ inputs }: PlanContext, dir: string, subPaths: SubPaths, kept: readonly string[]): boolean {
  const leaves = new Set(subPaths.leaves.map((leaf) => leaf.path))
  return (
    inputs.tree.children(dir).every((entry) => leaves.has(entry.path) && !kept.includes(entry.path)) &&
    parentOf(dir) === subPaths.dir
  )
}
