/** Mount namespaces other than volctl's own, each read once through one of its processes. */

import { readdirSync, readlinkSync } from 'node:fs'
import { errnoOf, VolctlError } from '../errors/errors.ts'
import { isWithin } from '../files/path-within.ts'
import { commandLine } from '../lang/command.ts'
import { count } from '../lang/count.ts'
import { type Location, pathThrough } from '../mountinfo/location.ts'
import type { MountInfo, MountTable } from '../mountinfo/mount-table.ts'
import { whoMounted } from '../mountinfo/mount-words.ts'
import { parseMountinfo } from '../mountinfo/parse-mountinfo.ts'
import { tableAt } from '../mountinfo/stable-table.ts'
import { kernelText, kernelTextIfAny, linkIfAny, namespaceOf } from '../trust/kernel.ts'
import { TooLarge } from '../trust/plain-files.ts'
import { TABLES_OF_ANYBODY, TABLES_OF_ROOT, type TableBytes } from './look-bounds.ts'
import { isInUserNamespace } from './standing.ts'

/**
 * Namespaces that cannot be read, or not within the bounds, are in the list as well, with the reason: what is mounted and used
 * there is unknown, which counts as everything (S3).
 *
 * @param everyThread read the namespace of every thread, which may differ from its process's. A node has ten times as many
 * threads as processes, so this is done only before a device is taken away. If the first thread of a process has ended, its
 * other threads are always read.
 */
export function readOtherNamespaces(everyThread: boolean, proc = '/proc'): OtherNamespace[] {
  const seen = new Set([readlinkSync(`${proc}/self/ns/mnt`)])
  const found: OtherNamespace[] = []
  const asked = processIds(proc).flatMap((pid) =>
    isHiddenInit(pid, proc)
      ? []
      : everyThread || namespaceOf(pid, 'mnt', proc) === undefined
        ? tasksOrItself(pid, proc)
        : [pid],
  )
  const allowances = { root: allowance(TABLES_OF_ROOT), anybody: allowance(TABLES_OF_ANYBODY) }
  const nodes = namespaceOf('self', 'user', proc)
  const read = (pid: number, wholeOnly: boolean): 'done' | 'ended' | 'later' | 'denied' => {
    let namespace: string
    try {
      namespace = readlinkSync(`${proc}/${pid}/ns/mnt`)
      if (seen.has(namespace)) return 'done'
      // In a chroot, mountinfo shows only the mounts below the process's root.
      if (wholeOnly && linkIfAny(`${proc}/${pid}/root`) !== '/') return 'later'
    } catch (error) {
      return hasEnded(error) ? 'ended' : 'denied'
    }
    const isRoots = namespaceOf(pid, 'user', proc) === nodes
    try {
      const table = tableAt(`${proc}/${pid}/mountinfo`, { take: (isRoots ? allowances.root : allowances.anybody)() })
      found.push({ pid, process: processName(pid, proc), table })
    } catch (error) {
      // Through another process it is no smaller, and rests no more (S27).
      const why = error instanceof TooLarge ? `its mount table ${error.why}` : refusedText(error)
      // A process that is ending has no namespace any more (EINVAL).
      if (why === undefined) return hasEnded(error) || errnoOf(error) === 'EINVAL' ? 'ended' : 'denied'
      found.push({ pid, process: processName(pid, proc), table: EMPTY, unseen: why })
    }
    seen.add(namespace)
    return 'done'
  }
  // Another process of the same namespace may still show it.
  const again = asked.filter((pid) => ['later', 'denied'].includes(read(pid, true)))
  const denied = again.filter((pid) => read(pid, false) === 'denied' && !isKernelThread(pid, proc))
  // Without rights, apply is refused (S7), and everybody else says how many processes are hidden.
  if (process.geteuid?.() === 0 && !isInUserNamespace()) {
    const unseen = 'it may not be read'
    for (const pid of denied) found.push({ pid, process: processName(pid, proc), table: EMPTY, unseen })
  }
  return found
}

/** Of a table that is damaged, or changes all the time. */
const refusedText = (error: unknown): string | undefined => (error instanceof VolctlError ? error.message : undefined)

const EMPTY = parseMountinfo('')

const MIB = 1 << 20

/** @returns for each table: called with the bytes that were read; throws TooLarge */
function allowance({ each, all }: TableBytes): () => (bytes: number) => void {
  let left = all
  return () => {
    let own = each
    // What is left for all may be used up before this one is begun.
    return (bytes) => {
      if (left <= 0) throw new TooLarge(`would be more than ${all / MIB} MiB together with others`)
      own -= bytes
      left -= bytes
      if (own < 0) throw new TooLarge(`is larger than ${each / MIB} MiB`)
    }
  }
}

/** What could not be seen: it counts as in use (S3). */
export interface Unseen {
  /** For messages. */
  readonly text: string
  /** What to do about it. */
  readonly hint: string
}

/** How many processes are named. */
const MOST_NAMED = 4

/** What these processes do could not be seen. */
export function unseenOf(pids: readonly number[], text: string): Unseen {
  // Nobody ends process 1.
  if (pids.includes(1)) return { text, hint: 'Plan again.' }
  const look = commandLine('ps', '-fp', pids.slice(0, MOST_NAMED).join(','))
  return { text, hint: `Look at what it does (${look}) and end it if nobody needs it, or reboot.` }
}

/** Namespaces whose mounts are unknown: each reason once, with the first of its processes. */
export function unseenNamespaces(others: readonly OtherNamespace[]): Unseen[] {
  return [...Map.groupBy(others, ({ unseen }) => unseen)].flatMap(([why, all]) => {
    const [first, ...more] = all
    if (why === undefined || first === undefined) return []
    const whose = `${first.process} (pid ${first.pid})${more.length === 0 ? '' : ` and of ${count(more.length, 'other')}`}`
    const pids = all.map(({ pid }) => pid)
    return [unseenOf(pids, `the mount namespace of ${whose} could not be read: ${why}`)]
  })
}

/**
 * Mount namespaces that no process is in, and that a descriptor or a mount keeps: nobody can read their tables, so anything may
 * be mounted there. snapd keeps those of its snaps, which have what the host has.
 *
 * @param descriptors by process, with the namespace's link text: `mnt:[4026532000]`
 * @param tables in which it may be mounted
 */
export function keptNamespaces(
  descriptors: readonly { readonly pid: number; readonly path: string }[],
  tables: readonly MountTable[],
  proc = '/proc',
): Unseen[] {
  const mounts = tables.flatMap((table) =>
    table
      .ofTypes((type) => type === 'nsfs')
      .filter(({ root, mountPoint }) => root.startsWith(MOUNT_NAMESPACE) && !isWithin(mountPoint, OF_SNAPS)),
  )
  if (descriptors.length + mounts.length === 0) return []
  const living = new Set(
    processIds(proc).flatMap((pid) => tasksOrItself(pid, proc).map((task) => namespaceOf(task, 'mnt', proc))),
  )
  const held = descriptors.filter(({ path }) => !living.has(path))
  const [holder] = held
  const [mount] = mounts.filter(({ root }) => !living.has(root))
  return [
    ...(holder === undefined
      ? []
      : [
          unseenOf(
            [...new Set(held.map(({ pid }) => pid))],
            `${processName(holder.pid, proc)} (pid ${holder.pid}) has a mount namespace open that no process is in`,
          ),
        ]),
    ...(mount === undefined
      ? []
      : [
          {
            text: `a mount namespace that no process is in is kept by ${mount.mountPoint}`,
            hint: whoMounted(mount.mountPoint),
          },
        ]),
  ]
}

/** How the kernel names one. */
export const MOUNT_NAMESPACE = 'mnt:['

const OF_SNAPS = '/run/snapd/ns'

export function processIds(proc = '/proc'): number[] {
  return readdirSync(proc)
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

/**
 * The threads of a process. Each may have its own files and namespace, and the first one may have ended before the
 * others. /proc also has a directory for each thread's number, but does not list it.
 */
export function taskIds(pid: number, proc = '/proc'): number[] {
  try {
    return readdirSync(`${proc}/${pid}/task`).map(Number)
  } catch (error) {
    if (hasEnded(error)) return []
    throw error
  }
}

function tasksOrItself(pid: number, proc: string): number[] {
  try {
    return taskIds(pid, proc)
  } catch {
    return [pid]
  }
}

export function hasEnded(error: unknown): boolean {
  const code = errnoOf(error)
  return code === 'ENOENT' || code === 'ESRCH'
}

/**
 * Process 1, where it may not be read: root of a machine may read it, root of some sandboxes may not. It only starts and
 * reaps other processes, and uses no volume.
 */
export function isHiddenInit(pid: number, proc = '/proc'): boolean {
  return pid === 1 && namespaceOf(pid, 'mnt', proc) === undefined
}

const KTHREAD = 0x200000

/** A kernel thread has no files. (stat: the name in brackets may contain anything, the flags are the seventh field after it.) */
export function isKernelThread(pid: number, proc = '/proc'): boolean {
  const stat = kernelTextIfAny(`${proc}/${pid}/stat`) ?? ''
  return (Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[6]) & KTHREAD) !== 0
}

export function processName(pid: number, proc = '/proc'): string {
  try {
    return kernelText(`${proc}/${pid}/comm`).trim()
  } catch {
    return 'ended'
  }
}

/**
 * Another mount namespace in which something is mounted on this very directory or file, whatever path it has there. Removing
 * it here would silently detach that mount (R036).
 *
 * @param stays false for a mount that goes away with one of ours before
 */
export function mountedOnElsewhere(
  location: Location,
  others: readonly OtherNamespace[],
  stays: (mount: MountInfo, of: MountTable) => boolean = () => true,
): OtherNamespace | undefined {
  return others.find(({ table }) => isMountPoint(location, table, stays))
}

function isMountPoint(
  location: Location,
  table: MountTable,
  stays: (mount: MountInfo, of: MountTable) => boolean,
): boolean {
  // By path, since there may be any number of mounts on one.
  const parents = new Map<string, ReadonlySet<number>>()
  return table.ofDevice(location.dev).some((mount) => {
    const path = pathThrough(mount, location)
    if (path === undefined) return false
    const there =
      parents.get(path) ??
      new Set(
        table
          .at(path)
          .filter((each) => stays(each, table))
          .map(({ parentId }) => parentId),
      )
    parents.set(path, there)
    return there.has(mount.id)
  })
}

/** Another mount namespace, seen through one of its processes. */
export interface OtherNamespace {
  readonly pid: number
  readonly process: string
  /** Empty if it is unseen. */
  readonly table: MountTable
  /** Why its table could not be read: whoever takes something away must take it as in use there. */
  readonly unseen?: string
}
