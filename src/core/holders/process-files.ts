/** Finds processes with a working directory, a root or an open file in some places, by readlink alone (a stat could hang). */
import { readdirSync, readlinkSync } from 'node:fs'
import { errnoOf } from '../errors/errors.ts'
import type { MountTable } from '../mountinfo/mount-table.ts'
import { parseMountinfo } from '../mountinfo/parse-mountinfo.ts'
import { tableAt } from '../mountinfo/stable-table.ts'
import type { OtherNamespace } from '../processes/mount-namespaces.ts'
import { hasEnded, processIds, processName, taskIds } from '../processes/mount-namespaces.ts'
import { type PodProcess, podOfProcess } from '../processes/pod-cgroups.ts'
import { kernelText, namespaceOf } from '../trust/kernel.ts'
import type { Places } from './searched-places.ts'

export interface Holder {
  readonly pid: number
  readonly process: string
  readonly what: 'cwd' | 'root' | 'file' | 'map' | 'device'
  /** As the process sees it. */
  readonly path: string
  /** Absent: the process belongs to no pod. */
  readonly of?: PodProcess
}

/** A process that may hold one of the places, and a test for a path of it. */
export interface Suspect {
  readonly pid: number
  readonly holds: (path: string) => boolean
}

export interface ProcessFiles {
  readonly holders: readonly Holder[]
  /** Processes whose mount namespace shows the places: their memory maps must be read. */
  readonly suspects: readonly Suspect[]
  /** How many processes volctl may not read. */
  readonly hidden: number
  /** How many processes are in a mount namespace that could not be read. */
  readonly unread: number
}

/**
 * In our own mount namespace paths are compared as they are. A path of a process in another one is first translated to device
 * and path inside the file system, since a container has another name for the same directory. If a namespace does not show
 * the places, its processes cannot hold them, and their files are not read.
 */
export function processFiles(places: Places, others: readonly OtherNamespace[], proc = '/proc'): ProcessFiles {
  const ours = namespaceOf('self', 'mnt', proc)
  const tables = new Map(others.map(({ pid, table }) => [namespaceOf(pid, 'mnt', proc), table]))
  const showing = new Map<MountTable, boolean>()
  const shows = (table: MountTable): boolean => {
    const known = showing.get(table) ?? [...places.devices].some((dev) => table.ofDevice(dev).length > 0)
    showing.set(table, known)
    return known
  }
  const holders: Holder[] = []
  const suspects: Suspect[] = []
  const hidden = new Set<number>()
  const unread = new Set<number>()
  for (const pid of processIds(proc)) {
    if (pid === process.pid) continue
    const seen = tasksOf(pid, proc)
    if (seen === 'hidden') {
      hidden.add(pid)
      continue
    }
    for (const { directory, namespace } of seen) {
      const here = namespace === ours
      const theirs = here ? undefined : (tables.get(namespace) ?? tableOf(directory))
      if (theirs !== undefined) tables.set(namespace, theirs)
      else if (!here) unread.add(pid)
      if (!here && (theirs === undefined || !shows(theirs))) continue
      const holds = (path: string): boolean =>
        here ? places.has(path) : theirs !== undefined && places.hasIn(theirs, path)
      suspects.push({ pid, holds })
      const { links, denied } = linksOf(directory)
      if (denied) hidden.add(pid)
      for (const [what, path] of links) if (holds(path)) holders.push(holder(pid, what, path, proc))
    }
  }
  return { holders, suspects, hidden: hidden.size, unread: unread.size }
}

export function holder(pid: number, what: Holder['what'], path: string, proc = '/proc'): Holder {
  const of = podOfProcess(pid, proc)
  return { pid, process: processName(pid, proc), what, path, ...(of && { of }) }
}

interface Task {
  /** In /proc. */
  readonly directory: string
  readonly namespace: string
}

/** The process; or its other threads if the first one has ended, since they still have its files. */
function tasksOf(pid: number, proc: string): readonly Task[] | 'hidden' {
  try {
    return [{ directory: `${proc}/${pid}`, namespace: readlinkSync(`${proc}/${pid}/ns/mnt`) }]
  } catch (error) {
    if (isDenied(error)) return isKernelThread(pid, proc) ? [] : 'hidden'
  }
  try {
    const tasks = taskIds(pid, proc).map((task) => `${proc}/${pid}/task/${task}`)
    return tasks.flatMap((directory) => {
      const namespace = linkAt(`${directory}/ns/mnt`)
      return namespace === undefined ? [] : [{ directory, namespace }]
    })
  } catch {
    return []
  }
}

const KTHREAD = 0x200000

/** A kernel thread has no files. (stat: the name in brackets may contain anything, the flags are the seventh field after it.) */
export function isKernelThread(pid: number, proc: string): boolean {
  try {
    const stat = kernelText(`${proc}/${pid}/stat`, 'latin1')
    return (Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[6]) & KTHREAD) !== 0
  } catch (error) {
    // A process that has ended holds nothing, either.
    return !isDenied(error)
  }
}

/** The table of a namespace that appeared after the others were read, or that only a thread is in. */
export function tableOf(directory: string): MountTable | undefined {
  try {
    return tableAt(`${directory}/mountinfo`)
  } catch (error) {
    // A process that is ending has no namespace any more (EINVAL).
    return hasEnded(error) || errnoOf(error) === 'EINVAL' ? parseMountinfo('') : undefined
  }
}

interface Links {
  readonly links: readonly (readonly [Holder['what'], string])[]
  /** Its descriptors may not be listed, although its namespaces may be read. */
  readonly denied: boolean
}

function linksOf(directory: string): Links {
  const links: [Holder['what'], string][] = []
  // Sockets, pipes and their like begin with a letter and hold no path.
  const note = (what: Holder['what'], link: string | undefined): void => {
    if (link?.startsWith('/')) links.push([what, link])
  }
  for (const what of ['cwd', 'root'] as const) note(what, linkAt(`${directory}/${what}`))
  try {
    for (const name of readdirSync(`${directory}/fd`)) note('file', linkAt(`${directory}/fd/${name}`))
  } catch (error) {
    return { links, denied: isDenied(error) }
  }
  return { links, denied: false }
}

export function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

/** True if the path is too long for the kernel to show: thousands of directories deep. */
export function isTooLong(link: string): boolean {
  try {
    readlinkSync(link)
    return false
  } catch (error) {
    return errnoOf(error) === 'ENAMETOOLONG'
  }
}

export function isDenied(error: unknown): boolean {
  const code = errnoOf(error)
  return code === 'EACCES' || code === 'EPERM'
}
