/** Mount namespaces other than volctl's own, each read once through one of its processes. */

import { readdirSync, readlinkSync } from 'node:fs'
import { once } from '../base/collections.ts'
import { count } from '../base/text.ts'
import { advice, commandLine, type Hint } from '../messages/command.ts'
import { allowing, errnoOf, VolctlError } from '../messages/findings.ts'
import { ifAny, kernelTextIfAny, linkIfAny, namespaceOf, processIds, statFields, statusField } from '../trust/kernel.ts'
import { TooLarge } from '../trust/plain-files.ts'
import { type Location, pathThrough } from './location.ts'
import { type MountInfo, type MountTable, whoMounted } from './mount-table.ts'
import { parseMountinfo } from './parse-mountinfo.ts'
import { isWithin } from './paths.ts'
import { TABLES_OF_ANYBODY, TABLES_OF_ROOT, type TableBytes } from './scan-limits.ts'
import { tableAt } from './stable-table.ts'
import { isInUserNamespace } from './standing.ts'

/**
 * Namespaces that cannot be read, or not within the bounds, are in the list as well, with the reason: what is mounted and used
 * there is unknown, which counts as everything (S3). Of one that anybody could have made nothing counts that is not read (S39).
 * A thread may be in another one than its process.
 */
export function readOtherNamespaces(proc = '/proc'): OtherNamespace[] {
  const own = readlinkSync(`${proc}/self/ns/mnt`)
  const tasks = processIds(proc).flatMap((pid) => (isHiddenInit(pid, proc) ? [] : tasksOrItself(pid, proc)))
  const members = Map.groupBy(tasks, (pid) => namespaceOf(pid, 'mnt', proc))
  const allowances = { root: allowance(TABLES_OF_ROOT), anybody: allowance(TABLES_OF_ANYBODY) }
  const nodes = namespaceOf('self', 'user', proc)
  const found: OtherNamespace[] = []
  const denied: number[] = []
  for (const [namespace, pids] of members) {
    if (namespace === own) continue
    const isAnybodys = !pids.some((pid) => namespaceOf(pid, 'user', proc) === nodes)
    const take = isAnybodys ? allowances.anybody : allowances.root
    const read = namespace === undefined ? pids : readThrough(pids, take, proc)
    if (Array.isArray(read)) denied.push(...read)
    else if (isAnybodys) found.push({ ...read, unseen: undefined, anybodys: namespace })
    else found.push(read)
  }
  // Without rights, apply is refused (S7), and everybody else says how many processes are hidden.
  if (process.geteuid?.() !== 0 || isInUserNamespace()) return found
  for (const pid of denied) {
    if (hasNoNamespace(pid, proc) || isKernelThread(pid, proc)) continue
    found.push({ pid, process: processName(pid, proc), table: EMPTY, unseen: 'it may not be read' })
  }
  return found
}

/** It has ended meanwhile. */
function hasNoNamespace(pid: number, proc: string): boolean {
  try {
    readlinkSync(`${proc}/${pid}/ns/mnt`)
    return false
  } catch (error) {
    return hasEnded(error)
  }
}

/** The table of their namespace, through the first of them that shows it; else those that do not. */
function readThrough(
  pids: readonly number[],
  take: ReturnType<typeof allowance>,
  proc: string,
): OtherNamespace | number[] {
  // In a chroot, mountinfo shows only the mounts below the process's root.
  const whole = pids.filter((pid) => linkIfAny(`${proc}/${pid}/root`) === '/')
  const denied: number[] = []
  for (const pid of [...whole, ...pids]) {
    try {
      return { pid, process: processName(pid, proc), table: tableAt(`${proc}/${pid}/mountinfo`, take()) }
    } catch (error) {
      // A table that is damaged, or changes all the time. Through another process it is no smaller, and rests no more (S27).
      const refused = error instanceof VolctlError ? error.message : undefined
      const why = error instanceof TooLarge ? `its mount table ${error.why}` : refused
      if (why !== undefined) return { pid, process: processName(pid, proc), table: EMPTY, unseen: why }
      // A process that is ending has no namespace any more (EINVAL).
      if (!hasEnded(error) && errnoOf(error) !== 'EINVAL') denied.push(pid)
    }
  }
  return denied.slice(0, 1)
}

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
  readonly hint: Hint
}

/** How many processes are named. */
const MOST_NAMED = 4

/** What these processes do could not be seen. */
export function unseenOf(pids: readonly number[], text: string): Unseen {
  // Nobody ends process 1.
  if (pids.includes(1)) return { text, hint: 'Plan again.' }
  const look = commandLine('ps', '-fp', pids.slice(0, MOST_NAMED).join(','))
  return { text, hint: advice`Look at what it does (${look}) and end it if nobody needs it, or reboot.` }
}

/** Namespaces whose mounts are unknown: the first, and how many there are. */
export function unseenNamespaces(others: readonly OtherNamespace[]): Unseen[] {
  const hidden = others.filter(({ unseen }) => unseen !== undefined)
  const [first, ...more] = hidden
  if (first === undefined) return []
  const whose = `${first.process} (pid ${first.pid})${more.length === 0 ? '' : ` and of ${count(more.length, 'other')}`}`
  const pids = hidden.map(({ pid }) => pid)
  return [unseenOf(pids, `the mount namespace of ${whose} could not be read: ${first.unseen}`)]
}

/**
 * Mount namespaces that no process is in, and that root's descriptor or a mount of the node keeps: nobody can read their tables, so
 * anything may be mounted there. snapd keeps those of its snaps, which have what the host has.
 *
 * @param descriptors by process, with the namespace's link text: `mnt:[4026532000]`
 * @param tables in which it may be mounted
 */
export function keptNamespaces(
  descriptors: readonly { readonly pid: number; readonly path: string }[],
  tables: readonly MountTable[],
): Unseen[] {
  const mounts = tables.flatMap((table) =>
    table.all.filter(
      ({ fsType, root, mountPoint }) =>
        fsType === 'nsfs' && root.startsWith(MOUNT_NAMESPACE) && !isWithin(mountPoint, OF_SNAPS),
    ),
  )
  if (descriptors.length + mounts.length === 0) return []
  const living = new Set(
    processIds().flatMap((pid) => tasksOrItself(pid, '/proc').map((task) => namespaceOf(task, 'mnt'))),
  )
  const nodes = namespaceOf('self', 'user')
  const isRoots = (pid: number): boolean =>
    statusField(kernelTextIfAny(`/proc/${pid}/status`) ?? '', 'Uid') === '0\t0\t0\t0' &&
    namespaceOf(pid, 'user') === nodes
  const unseen: Unseen[] = []
  const { pid } = { ...descriptors.find(({ pid, path }) => !living.has(path) && isRoots(pid)) }
  if (pid !== undefined)
    unseen.push(unseenOf([pid], `${processName(pid)} (pid ${pid}) has a mount namespace open that no process is in`))
  const { mountPoint } = { ...mounts.find(({ root }) => !living.has(root)) }
  if (mountPoint !== undefined) {
    const text = `a mount namespace that no process is in is kept by ${mountPoint}`
    unseen.push({ text, hint: whoMounted(mountPoint) })
  }
  return unseen
}

/** How the kernel names one. */
export const MOUNT_NAMESPACE = 'mnt:['

const OF_SNAPS = '/run/snapd/ns'

/**
 * The threads of a process. Each may have its own files and namespace, and the first one may have ended before the
 * others. /proc also has a directory for each thread's number, but does not list it.
 */
export function taskIds(pid: number, proc = '/proc'): number[] {
  return allowing(ENDED, [], () => readdirSync(`${proc}/${pid}/task`).map(Number))
}

function tasksOrItself(pid: number, proc: string): number[] {
  return ifAny(() => taskIds(pid, proc)) ?? [pid]
}

/** What is read of a process fails so once it has ended. */
export const ENDED = ['ENOENT', 'ESRCH']

export function hasEnded(error: unknown): boolean {
  return ENDED.includes(errnoOf(error) ?? '')
}

/**
 * Process 1, where it may not be read: root of a machine may read it, root of some sandboxes may not. It only starts and
 * reaps other processes, and uses no volume.
 */
export function isHiddenInit(pid: number, proc = '/proc'): boolean {
  return pid === 1 && namespaceOf(pid, 'mnt', proc) === undefined
}

const KTHREAD = 0x200000

/** A kernel thread has no files. */
export function isKernelThread(pid: number, proc = '/proc'): boolean {
  const [, , , , , , flags] = statFields(kernelTextIfAny(`${proc}/${pid}/stat`) ?? '')
  return (Number(flags) & KTHREAD) !== 0
}

export function processName(pid: number, proc = '/proc'): string {
  return kernelTextIfAny(`${proc}/${pid}/comm`) ?? 'ended'
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
  return ofTheNode(others).find(({ table }) => {
    // By path, since there may be any number of mounts on one.
    const parents = new Map<string, ReadonlySet<number>>()
    const parentsAt = (path: string) =>
      once(parents, path, () => new Set(table.at(path).flatMap((each) => (stays(each, table) ? each.parentId : []))))
    return table.ofDevice(location.dev).some((mount) => {
      const path = pathThrough(mount, location)
      return path !== undefined && parentsAt(path).has(mount.id)
    })
  })
}

/** Those in which a path means what root meant by it. */
export function ofTheNode(others: readonly OtherNamespace[]): readonly OtherNamespace[] {
  return others.filter(({ anybodys }) => anybodys === undefined)
}

/** Another mount namespace, seen through one of its processes. */
export interface OtherNamespace {
  readonly pid: number
  readonly process: string
  /** Empty if it is unseen. */
  readonly table: MountTable
  /** Why its table could not be read: whoever takes something away must take it as in use there. */
  readonly unseen?: string
  /**
   * Its name (`mnt:[4026532000]`), where another user namespace owns it, as anybody may make one: no process of the node's own is in it.
   * Only what the kernel identifies there counts as use: a device, a root, an inode, and never a path (S39).
   */
  readonly anybodys?: string
}
