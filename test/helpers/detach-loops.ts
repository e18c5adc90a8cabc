import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readBackingFile, readLoops } from '../../src/core/linux/block/device-use.ts'

interface Loop {
  readonly device: string
  readonly backingFile: string
}

/** Loop devices are the machine's, not the mount namespace's: none may be left. A mounted one is detached with its mount. */
export function detachLoops(...directories: readonly string[]): void {
  const all = readLoops()
  const byPath = all.filter(({ backingFile }) =>
    directories.some((directory) => backingFile.startsWith(`${directory}/`)),
  )
  const own = [...byPath, ...behindBinds(directories, all)]
  if (own.length === 0) return
  // The loop device that keeps a block volume open is on another loop device; once its mount is gone, its file has no name.
  const inodes = new Set(own.map(({ device }) => String(statSync(device).ino)))
  const upper = all.filter(
    ({ device, backingFile }) =>
      (backingFile === '/' || backingFile.startsWith('/dev/')) && inodes.has(backingOf(device).inode),
  )
  detachLoop(...[...upper, ...own].map(({ device }) => device))
}

/**
 * For a bind mount that is gone, or of another namespace, the kernel shows only the path within it: such a file is identified
 * by its inode.
 */
function behindBinds(directories: readonly string[], all: readonly Loop[]): Loop[] {
  const cut = all.filter(({ backingFile }) => backingFile !== '/' && !existsSync(backingFile))
  if (cut.length === 0) return []
  const files = new Map(directories.flatMap(imagesIn).map((path) => [identityOf(path), basename(path)]))
  return cut.filter(({ device, backingFile }) => {
    const name = basename(backingFile)
    if (![...files.values()].includes(name)) return false
    const { device: on, inode } = backingOf(device)
    return files.get(`${on} ${inode}`) === name
  })
}

function imagesIn(directory: string): string[] {
  try {
    return readdirSync(directory, { recursive: true, withFileTypes: true }).flatMap((entry) =>
      entry.isFile() && entry.name.endsWith('.img') ? [join(entry.parentPath, entry.name)] : [],
    )
  } catch {
    // The device is being removed.
    return []
  }
}

function identityOf(path: string): string {
  const { dev, ino } = statSync(path)
  return `${dev} ${ino}`
}

const SOON_MS = 3000
const SCAN_MS = 20

/**
 * Detached when this returns, even if a program that lists loop devices held one open for a moment; one that is mounted, or
 * held open for longer, is detached with that.
 *
 * @param devices one may be backed by another
 */
export function detachLoop(...devices: readonly string[]): void {
  const before = devices.map((device) => [device, readBackingFile(device)] as const)
  for (const device of devices) execFileSync('losetup', ['--detach', device])
  const isThere = ([device, file]: (typeof before)[number]): boolean =>
    file !== undefined && readBackingFile(device) === file && !isMounted(device)
  for (let waited = 0; waited < SOON_MS && before.some(isThere); waited += SCAN_MS) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SCAN_MS)
  }
}

function isMounted(device: string): boolean {
  const number = readFileSync(`/sys/block/${device.slice('/dev/'.length)}/dev`, 'utf8').trim()
  return readFileSync('/proc/self/mountinfo', 'utf8').includes(` ${number} `)
}

/** For this one device: listing all opens all of them, and so delays a detach by another test. */
function backingOf(device: string): { readonly device: string; readonly inode: string } {
  const { stdout } = spawnSync('losetup', ['--noheadings', '--output', 'BACK-MAJ:MIN,BACK-INO', '--list', device], {
    encoding: 'utf8',
  })
  const [on = '', inode = ''] = stdout.trim().split(/\s+/)
  const [major = 0, minor = 0] = on.split(':').map(Number)
  // As stat(2) has it, for small numbers.
  return { device: String(major * 256 + minor), inode }
}
