/** Mounts and commands of tests with real mounts. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { parseMountinfo } from '../../src/core/mountinfo/parse-mountinfo.ts'
import { ownPath, structurePlaces } from './structure-places.ts'

/** In the order of the table: a mount comes after the one that it is mounted on. */
export function mountPoints(): string[] {
  const table = parseMountinfo(readFileSync('/proc/self/mountinfo'))
  return table.under('/').map(({ mountPoint }) => mountPoint)
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
 * Takes off what is mounted below a directory, the youngest first: pods of one UID under two roots are one pod's, whose volumes are not
 * set up twice (S8).
 *
 * @param itself whether what is mounted on the directory goes too
 */
export function unmountBelow(directory: string, { itself = true } = {}): void {
  const isMeant = (path: string): boolean => path.startsWith(`${directory}/`) || (itself && path === directory)
  // With one others may go that it was copied to.
  for (const path of ownMountPoints(directory).filter(isMeant).toReversed())
    spawnSync('umount', ['-l', path], { stdio: 'ignore' })
}

/** Runs a command of the test's own; its output is the error's message. */
export function sh(command: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`)
  return stdout.trim()
}
