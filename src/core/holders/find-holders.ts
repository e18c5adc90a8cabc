/**
 * Finds who keeps a mount, a device or a directory busy: processes with a file, a working directory, a root or a memory map
 * on it, loop devices, and other mount namespaces that still have it. Nothing at or below the places is touched, so that a
 * dead server cannot make this hang.
 */
import { locate } from '../mountinfo/location.ts'
import type { MountTable } from '../mountinfo/mount-table.ts'
import type { OtherNamespace, Unseen } from '../processes/mount-namespaces.ts'
import { type PodProcess, podOfProcess } from '../processes/pod-cgroups.ts'
import { type LoopFile, swapFiles } from './kernel-files.ts'
import { Places } from './searched-places.ts'
import type { Holder, Uses } from './uses.ts'

/**
 * Another mount namespace in which one of the places, or something in it, is mounted and stays mounted when ours is
 * unmounted.
 */
export interface NamespaceHolder {
  /** One of its processes. */
  readonly pid: number
  readonly process: string
  /** Mount points, as seen in that namespace. */
  readonly mountPoints: readonly string[]
  readonly of?: PodProcess
}

export interface Holders {
  /** By pid, each with all that it holds. */
  readonly processes: readonly Holder[]
  readonly namespaces: readonly NamespaceHolder[]
  readonly loops: readonly LoopFile[]
  /** What the kernel itself uses there, for messages: mounts, layers of overlays, swap files, exports, devices. */
  readonly kernel: readonly string[]
  readonly unseen: readonly Unseen[]
}

export interface HolderSearch {
  /** Of our own mount namespace. */
  readonly table: MountTable
  /** Absolute. */
  readonly paths: readonly string[]
  readonly others: readonly OtherNamespace[]
  readonly loops: readonly LoopFile[]
  /** Of the file systems of the paths, and of all that is mounted below them (fileSystemsAt). */
  readonly uses: Uses
}

export function findHolders({ table, paths, others, loops, uses }: HolderSearch): Holders {
  const places = new Places(table, paths)
  const { swaps, unseen } = swapFiles()
  return {
    processes: places.locations.flatMap((place) => uses.holdersIn(place)).toSorted((a, b) => a.pid - b.pid),
    namespaces: others.flatMap((other) => namespaceHolder(other, places.mountsIn(other.table))),
    loops: loops.filter(({ backingFile }) => places.has(backingFile)),
    kernel: swaps.filter((path) => places.has(path)).map((path) => `the swap file ${path}`),
    unseen: [...uses.unseen, ...unseen],
  }
}

/** "major:minor" of the file systems that these paths are on, and of all that is mounted below them. */
export function fileSystemsAt(table: MountTable, paths: Iterable<string>): Set<string> {
  return new Set(
    [...paths].flatMap((path) => [
      ...[locate(table, path)?.dev].filter((dev) => dev !== undefined),
      ...table.under(path).map(({ dev }) => dev),
    ]),
  )
}

/** @param mounts that hold something there; none: it is no holder */
export function namespaceHolder(
  { pid, process }: OtherNamespace,
  mounts: readonly { readonly mountPoint: string }[],
): NamespaceHolder[] {
  if (mounts.length === 0) return []
  const of = podOfProcess(pid)
  const mountPoints = [...new Set(mounts.map(({ mountPoint }) => mountPoint))]
  return [{ pid, process, mountPoints, ...(of && { of }) }]
}
