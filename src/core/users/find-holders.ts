/**
 * Finds who keeps a mount, a device or a directory busy: processes with a file, a working directory, a root or a memory map
 * on it, loop devices, and other mount namespaces that still have it. Nothing at or below the places is touched, so that a
 * dead server cannot make this hang.
 */

import { memoize } from '../base/collections.ts'
import { alike, take } from '../base/text.ts'
import { type Location, locate, showing, shownBy } from '../linux/location.ts'
import type { OtherNamespace, Unseen } from '../linux/mount-namespaces.ts'
import { type MountInfo, type MountTable, ownPathOf } from '../linux/mount-table.ts'
import { isWithin, undeletedPath } from '../linux/paths.ts'
import { type PodProcess, podOfProcess } from '../linux/pod-cgroups.ts'
import { goesWith } from '../linux/propagation.ts'
import type { UsingProcess } from '../messages/findings.ts'
import type { PodRef } from '../volumes/finding.ts'
import { containerStatusesOf, namedUids, podAndContainer } from '../volumes/pods.ts'
import type { NodeSnapshot } from '../volumes/snapshot.ts'
import { type LoopFile, swapFiles } from './kernel-files.ts'
import type { Holder, Uses } from './uses.ts'

export interface Holders {
  /** By pid, each with all that it holds. */
  readonly processes: readonly Holder[]
  readonly namespaces: ReturnType<typeof namespaceHolders>
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
  readonly files: KernelFiles
  /** Of the file systems of the paths, and of all that is mounted below them (fileSystemsAt). */
  readonly uses: Uses
}

export function findHolders({ table, paths, others, files, uses }: HolderSearch): Holders {
  const mounts = [...new Set(paths.flatMap((path) => table.under(path)))]
  const own = paths.flatMap((path) => locate(table, path) ?? [])
  const below = mounts.map(shownBy)
  // A bind mount of the file system that the place itself is on says nothing about the place.
  const isOwn = (at: Location): boolean => own.some(({ dev, path }) => dev === at.dev && isWithin(path, at.path))
  const places = [...own, ...below.filter((at) => !isOwn(at))]
  const stays = staying(table, new Set(mounts.map(({ id }) => id)))
  const shown = (of: MountTable): MountInfo[] => places.flatMap((place) => showing(of, place))
  return together([
    {
      processes: uses.holdersIn(...places),
      namespaces: namespaceHolders(others, (of) => shown(of).filter((mount) => stays(mount, of))),
      unseen: uses.unseen,
    },
    heldByKernel(paths, files),
  ])
}

export type KernelFiles = ReturnType<typeof kernelFiles>

/** Files that the kernel itself has open, and where they lie, in our own paths. */
export function kernelFiles(loops: readonly LoopFile[], table: MountTable) {
  const at = (file: string): string => ownPathOf(table, undeletedPath(file))
  const { files, unseen } = swapFiles()
  return { loops: loops.map((loop) => ({ ...loop, at: at(loop.backingFile) })), swaps: files.map(at), unseen }
}

/** Those of them that are below one of the paths. */
export function heldByKernel(paths: readonly string[], { loops, swaps, unseen }: KernelFiles): Partial<Holders> {
  const isIn = (at: string): boolean => paths.some((path) => isWithin(at, path))
  return {
    loops: loops.filter(({ at }) => isIn(at)),
    kernel: swaps.filter(isIn).map((path) => `the swap file ${path}`),
    unseen,
  }
}

/** Ids of mounts, whatever is known of them beside. */
export type MountIds = Pick<ReadonlySet<number>, 'has' | 'keys'>

/** Which mounts stay when these are unmounted: their copies do not (R032). @param going those of this table */
export function staying(table: MountTable, going: MountIds = new Set()): (mount: MountInfo, of: MountTable) => boolean {
  const leaving = [...going.keys()].flatMap((id) => table.byId(id) ?? [])
  return (mount, of) =>
    !(of === table && going.has(mount.id)) && !leaving.some((each) => goesWith(table, each, mount, of))
}

/** "major:minor" of the file systems that these paths are on, and of all that is mounted below them. */
export function fileSystemsAt(table: MountTable, paths: Iterable<string>): Set<string> {
  return new Set(
    [...paths].flatMap((path) => [locate(table, path) ?? [], table.under(path)].flat().map(({ dev }) => dev)),
  )
}

/**
 * Other mount namespaces in which one of the places, or something in it, is mounted and stays mounted when ours is unmounted: one of the
 * processes of each, and the mount points as seen there.
 *
 * @param mountsIn gives those of a table that hold something there; where there are none, it is no holder
 */
export function namespaceHolders(
  others: readonly OtherNamespace[],
  mountsIn: (table: MountTable) => readonly MountInfo[],
) {
  return others.flatMap(({ pid, process, table }) => {
    const mountPoints = [...new Set(mountsIn(table).map(({ mountPoint }) => mountPoint))]
    return mountPoints.length === 0 ? [] : { pid, process, mountPoints, of: podOfProcess(pid) }
  })
}

/** All that was found, each only once, whichever search found it. */
export function together(found: readonly Partial<Holders>[]): Holders {
  const all = <T>(of: (each: Partial<Holders>) => readonly T[] | undefined): T[] => {
    const parts = found.flatMap((each) => of(each) ?? [])
    // Nearly always.
    if (parts.length === 0) return parts
    return [...new Map(parts.map((each) => [JSON.stringify(each), each])).values()]
  }
  return {
    processes: all(({ processes }) => processes).toSorted((a, b) => a.pid - b.pid),
    namespaces: all(({ namespaces }) => namespaces),
    loops: all(({ loops }) => loops?.map(({ device, backingFile }) => ({ device, backingFile }))),
    kernel: all(({ kernel }) => kernel),
    unseen: all(({ unseen }) => unseen),
  }
}

// Holders in one line, for messages.

/** Who or what uses something. */
export interface UsedBy {
  /** For messages. */
  readonly who: string
  /** The processes among the words. */
  readonly users?: readonly UsingProcess[]
}

/** How many holders of each kind are named; the rest is counted. */
const MOST = 4

const byUid: NameOf = ({ podUid, containerId: container }) => ({ pod: { uid: podUid }, container })

/** Empty where there are none. @param nameOf absent: pods are named by their UIDs */
export function describeHolders({ processes, namespaces, loops, kernel }: Holders, nameOf: NameOf = byUid): string {
  return [
    loops.map(({ device, backingFile }) => `${device}, backed by ${backingFile}`),
    kernel,
    describeProcesses(processes, nameOf),
    namespaces.map(
      ({ pid, process, mountPoints: [first], of }) =>
        `${first} in the mount namespace of ${process} (pid ${pid}${whose(of, nameOf)})`,
    ),
  ]
    .flatMap((each) => take(each, MOST))
    .join(', ')
}

/** Who is named first, with the processes among them; else what could not be seen; undefined: nobody. */
export function userAmong(holders: Holders, nameOf?: NameOf): UsedBy | Unseen | undefined {
  const who = describeHolders(holders, nameOf)
  if (who === '') return holders.unseen[0]
  const { processes, namespaces } = holders
  const users = new Map([...processes, ...namespaces].map((each) => [each.pid, usingProcess(each)]))
  return { who, users: [...users.values()] }
}

export function usingProcess({ pid, process }: UsingProcess): UsingProcess {
  return { pid, process }
}

/** `sleep (pid 42, cwd, file; container web of pod default/web-0)`, each process once. */
export function describeProcesses(holders: readonly Holder[], nameOf: NameOf = byUid): string[] {
  return alike(holders, ({ pid }) => pid).map((own) => {
    const whats = [...new Set(own.map(({ what }) => what))].join(', ')
    return `${own[0].process} (pid ${own[0].pid}, ${whats}${whose(own[0].of, nameOf)})`
  })
}

/** `sh (pid 42; container web of pod default/web-0)` */
export function describeProcess({ process, pid }: UsingProcess, nameOf: NameOf = byUid): string {
  return `${process} (pid ${pid}${whose(podOfProcess(pid), nameOf)})`
}

function whose(of: PodProcess | undefined, nameOf: NameOf): string {
  return of === undefined ? '' : `; ${podAndContainer(nameOf(of))}`
}

// Names of the pod and the container that a process belongs to, from the API and the runtime.

/** @returns with the container's name, otherwise the beginning of its id; absent: unknown */
export type NameOf = (of: PodProcess) => { readonly pod: PodRef; readonly container?: string }

/** The length of ids in crictl(1)'s output. */
const SHORT_ID = 13

export const containerNames = memoize(({ api, runtime }: NodeSnapshot): NameOf => {
  const pods = new Map<string, PodRef>()
  const containers = new Map<string, string>()
  for (const { uid, namespace, name, containers: own } of runtime?.pods ?? []) {
    pods.set(uid, { namespace, name, uid })
    for (const { id, name: container } of own) if (id !== undefined) containers.set(id, container)
  }
  for (const pod of api?.pods ?? []) {
    const { namespace, name } = pod.metadata
    for (const uid of namedUids(pod)) pods.set(uid, { namespace, name, uid })
    for (const { containerID, name: container } of containerStatusesOf(pod)) {
      if (typeof containerID === 'string') containers.set(containerID.replace(/^.*:\/\//, ''), container)
    }
  }
  return ({ podUid, containerId }) => {
    // An empty id in a status is no process's, and an empty name is none.
    const container = containerId && (containers.get(containerId) ?? containerId.slice(0, SHORT_ID))
    return { pod: pods.get(podUid) ?? { uid: podUid }, container: container || undefined }
  }
})
