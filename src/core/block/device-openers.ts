/**
 * Finds the processes that have a device open, under any name: a container has its own name for the device (S25).
 *
 * An exclusive open would fail on mounts, maps and exclusive openers; a process that opened a device without O_EXCL is only
 * found here.
 */
import { readdirSync, readlinkSync, statSync } from 'node:fs'
import { errnoOf } from '../errors/errors.ts'
import { cannotHang } from '../mountinfo/file-systems.ts'
import { containingMount } from '../mountinfo/location.ts'
import type { MountTable } from '../mountinfo/mount-table.ts'
import type { OtherNamespace } from '../processes/mount-namespaces.ts'
import { hasEnded, isHiddenInit, processIds, processName, taskIds } from '../processes/mount-namespaces.ts'
import { kernelTextIfAny, mountIdIn, O_PATH } from '../trust/kernel.ts'
import { anyDeviceNumberOf } from './device-use.ts'

export interface Opener {
  readonly pid: number
  readonly process: string
  /** "major:minor"; of a character device "char major:minor" */
  readonly dev: string
}

/**
 * @param devs as `anyDeviceNumberOf` gives them
 * @param table of volctl's own mount namespace; a device file is only looked at on a file system that cannot hang
 * @throws whatever reading /proc fails with, other than that a process has ended
 */
export function openersOf(
  devs: ReadonlySet<string>,
  table: MountTable,
  others: readonly OtherNamespace[],
  proc = '/proc',
): Opener[] {
  if (devs.size === 0) return []
  const tables = new Map<string, MountTable>()
  for (const other of [...others, { pid: 'self', table }]) {
    const namespace = linkAt(`${proc}/${other.pid}/ns/mnt`)
    if (namespace !== undefined) tables.set(namespace, other.table)
  }
  return processIds(proc).flatMap((pid) => {
    if (pid === process.pid || isHiddenInit(pid, proc)) return []
    const open = new Set(taskIds(pid, proc).flatMap((task) => devicesOf(`${proc}/${pid}/task/${task}`, devs, tables)))
    return [...open].map((dev) => ({ pid, process: processName(pid, proc), dev }))
  })
}

function devicesOf(task: string, devs: ReadonlySet<string>, tables: ReadonlyMap<string, MountTable>): string[] {
  const theirs = tables.get(linkAt(`${task}/ns/mnt`) ?? '')
  const names = unlessEnded(() => readdirSync(`${task}/fd`)) ?? []
  return names.flatMap((name) => {
    const dev = deviceAt(task, name, theirs)
    return dev === undefined || !devs.has(dev) || isPlaceAlone(`${task}/fdinfo/${name}`) ? [] : dev
  })
}

/** A descriptor with O_PATH marks the device file, but does not have the device open. */
function isPlaceAlone(fdinfo: string): boolean {
  const flags = /^flags:\s*([0-7]+)$/m.exec(kernelTextIfAny(fdinfo) ?? '')?.[1]
  return flags !== undefined && (Number.parseInt(flags, 8) & O_PATH) !== 0
}

function deviceAt(task: string, name: string, table: MountTable | undefined): string | undefined {
  const descriptor = `${task}/fd/${name}`
  const path = pathOf(descriptor)
  const isSafe = path === 'too long' ? answersByMount(`${task}/fdinfo/${name}`, table) : answers(path, table)
  return isSafe ? unlessEnded(() => anyDeviceNumberOf(statSync(descriptor))) : undefined
}

/** Too long: thousands of directories deep, so that the kernel cannot show the path. */
function pathOf(descriptor: string): string | undefined {
  try {
    return readlinkSync(descriptor)
  } catch (error) {
    if (errnoOf(error) === 'ENAMETOOLONG') return 'too long'
    if (hasEnded(error)) return undefined
    throw error
  }
}

function answersByMount(fdinfo: string, table: MountTable | undefined): boolean {
  const id = mountIdIn(kernelTextIfAny(fdinfo) ?? '')
  const mount = id === undefined ? undefined : table?.byId(id)
  return mount !== undefined && cannotHang(mount.fsType)
}

/** True if looking at the path cannot hang. In a namespace that could not be read, only /dev is safe. */
function answers(path: string | undefined, table: MountTable | undefined): boolean {
  if (!path?.startsWith('/')) return false
  if (table === undefined) return path.startsWith('/dev/')
  const mount = containingMount(table, path)
  return mount !== undefined && cannotHang(mount.fsType)
}

function linkAt(path: string): string | undefined {
  return unlessEnded(() => readlinkSync(path))
}

/** Other failures are thrown: a file that may not be read does not prove that nothing is open (S3). */
function unlessEnded<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (hasEnded(error)) return undefined
    throw error
  }
}
