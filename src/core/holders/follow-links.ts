/** Where a path of some mount namespace leads to, by readlink alone, and never into a file system that may not answer. */
import { lstatSync, readlinkSync } from 'node:fs'
import { posix } from 'node:path'
import { cannotHang } from '../mountinfo/file-systems.ts'
import { containingMount } from '../mountinfo/location.ts'
import type { MountTable } from '../mountinfo/mount-table.ts'

/** A mount namespace, and a path that leads to its root from here. */
export interface View {
  readonly table: MountTable
  /** "" for our own, "/proc/PID/root" of a process for another. */
  readonly root: string
}

/** As the kernel (MAXSYMLINKS). */
const MOST_LINKS = 40

/**
 * @param path absolute
 * @returns without links as far as can be told: what lies behind a missing name, or in a file system that may not answer,
 * stays as it is
 */
export function followLinks({ table, root }: View, path: string): string {
  let real = '/'
  let links = 0
  const left = path.split('/')
  while (left.length > 0) {
    const name = left.shift() ?? ''
    if (name === '' || name === '.') continue
    const at = posix.join(real, name)
    if (name === '..' || !isLocal(table, at)) {
      real = at
      continue
    }
    const target = linkAt(root + at)
    if (target === undefined) {
      real = at
      continue
    }
    if (++links > MOST_LINKS) return posix.join(at, ...left)
    if (target.startsWith('/')) real = '/'
    left.unshift(...target.split('/'))
  }
  return real
}

/** Is something there; undefined where nobody can ask without having to wait. */
export function inodeAt({ table, root }: View, path: string): number | undefined {
  try {
    return isLocal(table, path) ? lstatSync(root + path).ino : undefined
  } catch {
    return undefined
  }
}

/** With every mount that the way leads through. */
function isLocal(table: MountTable, path: string): boolean {
  for (let at = path; ; ) {
    const mount = containingMount(table, at)
    if (mount === undefined || !cannotHang(mount.fsType)) return false
    if (mount.mountPoint === '/') return true
    at = posix.dirname(mount.mountPoint)
  }
}

/** Undefined: it is none, or not there. */
function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}
