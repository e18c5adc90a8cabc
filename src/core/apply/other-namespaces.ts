/** Mount namespaces other than ours, each read once through one of its processes. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import type { MountTable } from '../mountinfo/mount-table.ts'
import { parseMountinfo } from '../mountinfo/parse-mountinfo.ts'
import type { OtherNamespace } from './host.ts'
import { type Location, pathThrough } from './location.ts'

export function readOtherNamespaces(proc = '/proc'): OtherNamespace[] {
  const seen = new Set([readlinkSync(`${proc}/self/ns/mnt`)])
  const found: OtherNamespace[] = []
  for (const pid of processIds(proc)) {
    try {
      const namespace = readlinkSync(`${proc}/${pid}/ns/mnt`)
      if (seen.has(namespace)) continue
      const table = parseMountinfo(readFileSync(`${proc}/${pid}/mountinfo`))
      seen.add(namespace)
      found.push({ pid, process: processName(pid, proc), table })
    } catch {
      // Ended meanwhile, or not ours to see: another process of the same namespace may still show it.
    }
  }
  return found
}

export function processIds(proc = '/proc'): number[] {
  return readdirSync(proc)
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

export function processName(pid: number, proc = '/proc'): string {
  try {
    return readFileSync(`${proc}/${pid}/comm`, 'utf8').trim()
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
