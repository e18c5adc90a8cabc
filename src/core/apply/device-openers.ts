/**
 * Which processes have a block device open, whatever they call it: a container has it under a name of its own (S25).
 *
 * An exclusive open finds mounts, maps and the careful; what reads or writes a device without O_EXCL is only seen here.
 */
import { readdirSync, readlinkSync, statSync } from 'node:fs'
import type { MountTable } from '../mountinfo/mount-table.ts'
import { deviceNumberOf } from './device-use.ts'
import { cannotHang } from './file-systems.ts'
import type { OtherNamespace } from './host.ts'
import { containingMount } from './location.ts'
import { processIds, processName } from './other-namespaces.ts'

export interface Opener {
  readonly pid: number
  readonly process: string
  /** "major:minor" */
  readonly dev: string
}

/** @param table of our own namespace; a device file is looked at only on a file system that answers without a server */
export function openersOf(
  devs: ReadonlySet<string>,
  table: MountTable,
  others: readonly OtherNamespace[],
  proc = '/proc',
): Opener[] {
  if (devs.size === 0) return []
  const tables = new Map(others.map((other) => [linkAt(`${proc}/${other.pid}/ns/mnt`), other.table]))
  tables.set(linkAt(`${proc}/self/ns/mnt`), table)
  return processIds(proc).flatMap((pid) => {
    if (pid === process.pid) return []
    const theirs = tables.get(linkAt(`${proc}/${pid}/ns/mnt`))
    const open = new Set(descriptorsOf(pid, proc).flatMap((fd) => deviceAt(fd, theirs) ?? []))
    return [...open.intersection(devs)].map((dev) => ({ pid, process: processName(pid, proc), dev }))
  })
}

function descriptorsOf(pid: number, proc: string): string[] {
  try {
    return readdirSync(`${proc}/${pid}/fd`).map((name) => `${proc}/${pid}/fd/${name}`)
  } catch {
    return []
  }
}

function deviceAt(descriptor: string, table: MountTable | undefined): string | undefined {
  const path = linkAt(descriptor)
  if (path === undefined || !path.startsWith('/') || !answers(path, table)) return undefined
  try {
    return deviceNumberOf(statSync(descriptor))
  } catch {
    return undefined
  }
}

/** Of a namespace that nobody could read only the usual place is looked at. */
function answers(path: string, table: MountTable | undefined): boolean {
  if (table === undefined) return path.startsWith('/dev/')
  const mount = containingMount(table, path)
  return mount !== undefined && cannotHang(mount.fsType)
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}
