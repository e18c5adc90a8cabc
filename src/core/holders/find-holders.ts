/**
 * Finds who keeps a mount, a device or a directory busy: processes with a file, a working directory, a root or a memory map
 * on it, loop devices, and other mount namespaces that still have it. Nothing at or below the places is touched, so that a
 * dead server cannot make this hang.
 */
import { count } from '../lang/count.ts'
import type { MountTable } from '../mountinfo/mount-table.ts'
import type { OtherNamespace } from '../processes/mount-namespaces.ts'
import { type PodProcess, podOfProcess } from '../processes/pod-cgroups.ts'
import { isInUserNamespace } from '../processes/standing.ts'
import { swapFiles } from './kernel-files.ts'
import { type KnownMaps, type MappedFiles, type MapReader, mappedFiles } from './mapped-files.ts'
import { type Holder, processFiles } from './process-files.ts'
import { Places } from './searched-places.ts'
import { hiddenProcesses } from './sight.ts'

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

export interface LoopHolder {
  readonly device: string
  readonly backingFile: string
}

export interface Holders {
  /** By pid, each with all that it holds. */
  readonly processes: readonly Holder[]
  readonly namespaces: readonly NamespaceHolder[]
  readonly loops: readonly LoopHolder[]
  /** What the kernel itself uses there, for messages: mounts, layers of overlays, swap files, exports, devices. */
  readonly kernel: readonly string[]
  /** What could not be seen, for messages. */
  readonly unseen: readonly string[]
}

export interface HolderSearch {
  /** Of our own mount namespace. */
  readonly table: MountTable
  /** Absolute. */
  readonly paths: readonly string[]
  readonly others: readonly OtherNamespace[]
  readonly loops: readonly LoopHolder[]
  /** Absent: memory maps are not read. */
  readonly maps?: MapReader | undefined
  /** Maps that another search reads at the same time, if one does. */
  readonly known?: Promise<KnownMaps | undefined>
}

export async function findHolders({ table, paths, others, loops, maps, known }: HolderSearch): Promise<Holders> {
  const places = new Places(table, paths)
  const { holders, suspects, hidden, unread } = processFiles(places, others)
  const mapped = maps === undefined ? NOT_ASKED : await mappedFiles(places, suspects, maps, await known)
  return {
    processes: [...holders, ...mapped.holders].toSorted((a, b) => a.pid - b.pid),
    namespaces: others.flatMap((other) => namespaceHolder(places, other)),
    loops: loops.filter(({ backingFile }) => places.has(backingFile)),
    kernel: swapFiles()
      .filter((path) => places.has(path))
      .map((path) => `the swap file ${path}`),
    unseen: [
      ...hiddenProcesses(table),
      ...(hidden === 0 ? [] : [hiddenText(hidden)]),
      ...(unread === 0
        ? []
        : [
            `the mount namespaces of ${count(unread, 'process', 'processes')} could not be read, so what ${unread === 1 ? 'it holds' : 'they hold'} is unknown`,
          ]),
      ...mapped.unread,
    ],
  }
}

const NOT_ASKED: MappedFiles = { holders: [], unread: [] }

function hiddenText(hidden: number): string {
  const what = `the open files and mounts of ${count(hidden, 'process', 'processes')} cannot be read`
  if (process.geteuid?.() !== 0) return `volctl does not run as root: ${what}`
  return isInUserNamespace()
    ? `volctl runs in a user namespace: ${what}`
    : `${what}: CAP_SYS_PTRACE or CAP_DAC_READ_SEARCH is missing, or a security module forbids it`
}

function namespaceHolder(places: Places, { pid, process, table }: OtherNamespace): NamespaceHolder[] {
  const mounts = places.mountsIn(table)
  if (mounts.length === 0) return []
  const of = podOfProcess(pid)
  const mountPoints = [...new Set(mounts.map(({ mountPoint }) => mountPoint))]
  return [{ pid, process, mountPoints, ...(of && { of }) }]
}
