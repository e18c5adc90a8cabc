import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { parseMountinfo } from '../../../src/core/linux/parse-mountinfo.ts'
import { kernelPath } from '../structure-places.ts'

const run = promisify(execFile)

export async function command(name: string, ...args: string[]): Promise<string> {
  const { stdout } = await run(name, args, { env: { PATH: `${process.env.PATH}:/usr/sbin:/sbin`, LC_ALL: 'C' } })
  return stdout.trim()
}

/**
 * How many mounts are stacked on exactly this path, without copies that no path reaches (O35). Of very many mounts only those on the
 * way to it are looked at: whoever else is served by this process waits meanwhile.
 */
export function mountsAt(path: string): number {
  const at = kernelPath(path)
  // As the table has it.
  const shown = at.replace(/[\s\\]/g, (each) => `\\${each.charCodeAt(0).toString(8).padStart(3, '0')}`)
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
  const onTheWay = lines.filter((line) => {
    const [, , , , point = ''] = line.split(' ', 5)
    return point === '/' || shown === point || shown.startsWith(`${point}/`)
  })
  return parseMountinfo(`${onTheWay.join('\n')}\n`).reached(at).length
}

/** Where a device is mounted. */
export function mountPointOf(device: string): string | undefined {
  const table = parseMountinfo(readFileSync('/proc/self/mountinfo'))
  return table.all.find(({ source }) => source === device)?.mountPoint
}

/** Bind-mounts, read-only if asked. */
export async function bindMount(source: string, target: string, readonly: boolean): Promise<void> {
  await command('mount', '--bind', '--', source, target)
  if (readonly) await command('mount', '-o', 'remount,bind,ro', '--', target)
}

/** Unmounts every mount stacked on the path. */
export async function unmountAll(path: string): Promise<void> {
  // Unmounting one may unmount others as well.
  while (mountsAt(path) > 0) await command('umount', '--', path)
}
