import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { ownPath, structurePlaces } from '../structure-places.ts'

/** In the order of the table: a mount comes after the one that it is mounted on. No scene has blanks in a path. */
export function mountPoints(): string[] {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
  return lines.flatMap((line) => line.split(' ')[4] ?? [])
}

/** Including mounts behind links in the directory, by the links' own paths. */
export function mountPointsBelow(directory: string): string[] {
  const places = structurePlaces(directory)
  return mountPoints()
    .map((path) => ownPath(path, places))
    .filter((path) => path.startsWith(`${directory}/`))
}

/** Layer by layer; nothing may be mounted below the path any more. */
export function unmountAllOn(directory: string): void {
  for (const path of mountPoints().filter((each) => each === directory))
    spawnSync('umount', ['-l', path], { stdio: 'ignore' })
}

export function unmountAllBelow(directory: string): void {
  for (const path of mountPointsBelow(directory).toReversed()) spawnSync('umount', ['-l', path], { stdio: 'ignore' })
}
