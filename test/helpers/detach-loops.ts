import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { readBackingFile, readLoops } from '../../src/core/apply/device-use.ts'
import { structurePlaces } from './structure-places.ts'

/** Loop devices are the machine's, not the mount namespace's: none may be left. One that is mounted goes with its mount. */
export function detachLoops(...directories: readonly string[]): void {
  const all = readLoops()
  const places = directories.flatMap((directory) => [
    directory,
    ...structurePlaces(directory).map(({ place }) => place),
  ])
  const own = all.filter(({ backingFile }) => places.some((place) => backingFile.startsWith(`${place}/`)))
  if (own.length === 0) return
  // What keeps a block volume open sits on another loop device; once its mount is gone its file has no name.
  const inodes = new Set(own.map(({ device }) => String(statSync(device).ino)))
  const upper = all.filter(
    ({ device, backingFile }) =>
      (backingFile === '/' || backingFile.startsWith('/dev/')) && inodes.has(backingInodeOf(device)),
  )
  detachLoop(...[...upper, ...own].map(({ device }) => device))
}

const SOON_MS = 3000
const LOOK_MS = 20

/**
 * Gone when this returns, though somebody who lists loop devices has had it open for a moment; one that is mounted, or
 * held open for longer, goes with that.
 *
 * @param devices of which one may be made on another
 */
export function detachLoop(...devices: readonly string[]): void {
  const before = devices.map((device) => [device, readBackingFile(device)] as const)
  for (const device of devices) execFileSync('losetup', ['--detach', device])
  const isThere = ([device, file]: (typeof before)[number]): boolean =>
    file !== undefined && readBackingFile(device) === file && !isMounted(device)
  for (let waited = 0; waited < SOON_MS && before.some(isThere); waited += LOOK_MS) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS)
  }
}

function isMounted(device: string): boolean {
  const number = readFileSync(`/sys/block/${device.slice('/dev/'.length)}/dev`, 'utf8').trim()
  return readFileSync('/proc/self/mountinfo', 'utf8').includes(` ${number} `)
}

/** Of this one device: to ask for all opens all of them, and what another test detaches meanwhile stays for a moment. */
function backingInodeOf(device: string): string {
  const { stdout } = spawnSync('losetup', ['--noheadings', '--output', 'BACK-INO', '--list', device], {
    encoding: 'utf8',
  })
  return stdout.trim()
}
