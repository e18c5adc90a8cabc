/** Mounts and commands of tests with real mounts. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import { ownPath, structurePlaces } from './structure-places.ts'

/** In the order of the table: a mount comes after the one that it is mounted on. */
export function mountPoints(): string[] {
  const table = parseMountinfo(readFileSync('/proc/self/mountinfo'))
  return table.all.map(({ mountPoint }) => mountPoint)
}

/** Below a directory, including mounts behind links in it, by the links' own paths. */
export function mountPointsBelow(directory: string): string[] {
  return ownMountPoints(directory).filter((path) => path.startsWith(`${directory}/`))
}

function ownMountPoints(directory: string): string[] {
  const places = structurePlaces(directory)
  return mountPoints().map((path) => ownPath(path, places))
}

/**
 * Takes off what is mounted below a directory: pods of one UID under two roots are one pod's, whose volumes are not set up twice (S8).
 *
 * @param itself whether what is mounted on the directory goes too
 */
export function unmountBelow(directory: string, { itself = true } = {}): void {
  const isMeant = (path: string): boolean => path.startsWith(`${directory}/`) || (itself && path === directory)
  const points = (): string[] => ownMountPoints(directory).filter(isMeant)
  let left = new Set(points())
  // With one goes what is below it, and of a storm of copies nearly all.
  for (const path of points()) {
    if (!left.has(path)) continue
    spawnSync('umount', ['-l', path], { stdio: 'ignore' })
    left = new Set(points())
  }
}

/** Runs a command of the test's own; its output is the error's message. */
export function sh(command: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`)
  return stdout.trim()
}

/**
 * Changes a mounted tmpfs. With type and source, mount(8) sets only these options; otherwise also those of the mount table,
 * among them owners whose numbers differ in a user namespace.
 */
export function remountTmpfs(path: string, options: string): void {
  sh('mount', '-t', 'tmpfs', '-o', `remount,${options}`, 'tmpfs', path)
}
