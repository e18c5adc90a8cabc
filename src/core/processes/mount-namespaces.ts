/** Mount namespaces other than volctl's own, each read once through one of its processes. */
import { readdirSync, readlinkSync } from 'node:fs'
import { errnoOf, VolctlError } from '../errors/errors.ts'
import { type Location, pathThrough } from '../mountinfo/location.ts'
import type { MountTable } from '../mountinfo/mount-table.ts'
import { tableAt } from '../mountinfo/stable-table.ts'
import { kernelText, namespaceOf } from '../trust/kernel.ts'

/**
 * @param everyThread read the namespace of every thread, which may have one of its own. A node has ten times as many threads
 * as processes, so this is done only before a device is taken away. If the first thread of a process has ended, its other
 * threads are always read.
 * @throws VolctlError MountinfoUnstable or MountinfoDamaged
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
      // In a chroot, mountinfo shows only the mounts below the process's root.
      if (wholeOnly && readlinkSync(`${proc}/${pid}/root`) !== '/') return false
      const table = tableAt(`${proc}/${pid}/mountinfo`)
      seen.add(namespace)
      found.push({ pid, process: processName(pid, proc), table })
      return true
    } catch (error) {
      // A table that never rests is no smaller through another process (S27).
      if (error instanceof VolctlError) throw error
      // It has ended, or may not be read: another process of the same namespace may still show it.
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
 * The threads of a process. Each may have files and a namespace of its own, and the first one may have ended before the
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
