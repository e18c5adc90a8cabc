import { execFile, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { parseMountinfo } from '../../../src/core/mountinfo/parse-mountinfo.ts'
import { kernelPath } from '../structure-places.ts'

const run = promisify(execFile)

export async function command(name: string, ...args: string[]): Promise<string> {
  const { stdout } = await run(name, args, { env: { PATH: `${process.env.PATH}:/usr/sbin:/sbin`, LC_ALL: 'C' } })
  return stdout.trim()
}

/** How many mounts are stacked on exactly this path, without copies that no path reaches (O35). */
export function mountsAt(path: string): number {
  return parseMountinfo(readFileSync('/proc/self/mountinfo')).reached(kernelPath(path)).length
}

/** Unmounts everything at or below a directory, the youngest first: for a test's own clean-up. */
export function unmountBelow(directory: string): void {
  const below = mountPoints().filter((path) => path === directory || path.startsWith(`${directory}/`))
  // Unmounting one may unmount copies as well.
  for (const path of below.reverse()) if (mountsAt(path) > 0) execFileSync('umount', ['--', path])
}

/** Where a device is mounted. */
export function mountPointsOf(device: string): string[] {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
  return lines.filter((line) => line.includes(` ${device} `)).map((line) => decodeOctal(line.split(' ')[4] ?? ''))
}

/** In the order of the table: a mount comes after the one that it is mounted on. */
function mountPoints(): string[] {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
  return lines.map((line) => decodeOctal(line.split(' ')[4] ?? ''))
}

function decodeOctal(field: string): string {
  const latin1 = field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
  return latin1 === field ? field : Buffer.from(latin1, 'latin1').toString('utf8')
}

/** Bind-mounts, read-only if asked. */
export async function bindMount(source: string, target: string, readonly: boolean): Promise<void> {
  await command('mount', '--bind', '--', source, target)
  if (readonly) await command('mount', '-o', 'remount,bind,ro', '--', target)
}

/** Unmounts every mount stacked on the path; @returns the number of mounts that were there. */
export async function unmountAll(path: string): Promise<number> {
  const count = mountsAt(path)
  // Unmounting one may unmount others as well.
  while (mountsAt(path) > 0) await command('umount', '--', path)
  return count
}
