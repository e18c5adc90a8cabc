/** Mount namespaces other than ours, each read once through one of its processes. */
import { readdirSync, readlinkSync } from 'node:fs'
import { errnoOf } from '../errors/errors.ts'
import { type Location, pathThrough } from '../mountinfo/location.ts'
import type { MountTable } from '../mountinfo/mount-table.ts'
import { parseMountinfo } from '../mountinfo/parse-mountinfo.ts'
import { kernelBytes, kernelText, namespaceOf } from '../trust/kernel.ts'

/**
 * @param everyThread a thread may have a namespace of its own; nodes have ten times as many as processes, so that they are
 * asked only before a device is taken away. Of a process whose first thread has ended the others are asked always.
 */
export function readOtherNamespaces(everyThread: boolean, proc = '/proc'): OtherNamespace[] {
  const seen = new Set([readlinkSync(`${proc}/self/ns/mnt`)])
  const found: OtherNamespace[] = []
  const asked = processIds(proc).flatMap((pid) =>
    everyThread || namespaceOf(pid, 'mnt', proc) === undefined ? tasksOrItself(pid, proc) : [pid],
  )
  const read = (pid: number, wholeOnly: boolean): boolean => {
    try {
      const namespace = readlinkSync(`${proc}/${pid}/ns/mnt`)
      if (seen.has(namespace)) return true
      // In a chroot a process is shown no more of its namespace than lies there.
      if (wholeOnly && readlinkSync(`${proc}/${pid}/root`) !== '/') return false
      const table = parseMountinfo(kernelBytes(`${proc}/${pid}/mountinfo`))
      seen.add(namespace)
      found.push({ pid, process: processName(pid, proc), table })
      return true
    } catch {
      // Ended meanwhile, or not ours to see: another process of the same namespace may still show it.
      return false
    }
  }
  for (const pid of asked.filter((each) => !read(each, true))) read(pid, false)
  return found
}

export function processIds(proc = '/proc'): number[] {
  return readdirSync(proc)
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

/**
 * Its threads, each of which has files and a namespace of its own if it wants: the first may have ended before them.
 * /proc answers to a thread's number as to a process's, but does not list it.
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
 * The first process, where it alone is out of reach: root of a machine may look into it, root of a sandbox that has one
 * of its own may not. It starts and reaps the others, and uses nobody's volume.
 */
export function isHiddenInit(pid: number, proc = '/proc'): boolean {
  return pid === 1 && namespaceOf(pid, 'mnt', proc) === undefined
}

export function processName(pid: number, proc = '/proc'): string {
  try {
    return kernelText(`${proc}/${pid}/comm`).trim()
  } catch {
    return 'ended'
  }
}

/**
 * The namespace in which something is mounted on this very directory or file, whatever path it has there.
 * Removing it here would detach that mount there without a word (R036).
 */
export function mountedOnElsewhere(location: Location, others: readonly OtherNamespace[]): OtherNamespace | undefined {
  return others.find(({ table }) => isMountPoint(location, table))
}

function isMountPoint(location: Location, table: MountTable): boolean {
  return table.ofDevice(location.dev).some((mount) => {
    const path = pathThrough(mount, location)
    return path !== undefined && table.at(path).some((upper) => upper.parentId === mount.id)
  })
}

/** Another mount namespace, seen through one of its processes. */
export interface OtherNamespace {
  readonly pid: number
  readonly process: string
  readonly table: MountTable
}
