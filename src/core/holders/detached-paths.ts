/**
 * What a process has open, or has as its working directory or root, on a mount that no table shows any more. Run in a child
 * (map-reader.ts): the file system is asked for its number, and its server may hang.
 */
import { readdirSync, readlinkSync, statSync } from 'node:fs'
import { deviceNumberFrom } from '../block/device-use.ts'
import { errnoOf } from '../errors/errors.ts'
import { hasEnded, taskIds } from '../processes/mount-namespaces.ts'
import { kernelText, mountIdBehind, mountIdIn } from '../trust/kernel.ts'

/**
 * @param devices "major:minor" of the file systems in question
 * @param known ids of the mounts that a table shows
 * @throws if the process may not be read
 */
export function detachedPaths(pid: number, devices: readonly string[], known: ReadonlySet<number>): string[] {
  const found = new Set<string>()
  for (const task of taskIds(pid)) {
    const at = `/proc/${pid}/task/${task}`
    for (const link of [...['cwd', 'root'].map((name) => `${at}/${name}`), ...descriptorsOf(at)]) {
      const path = unlessEnded(() => pathOf(link))
      if (path === undefined || !path.startsWith('/')) continue
      const mount = unlessEnded(() => mountOf(link))
      if (mount === undefined || known.has(mount)) continue
      const dev = unlessEnded(() => deviceNumberFrom(statSync(link).dev))
      if (dev !== undefined && devices.includes(dev)) found.add(path)
    }
  }
  return [...found]
}

const descriptorsOf = (at: string): string[] =>
  (unlessEnded(() => readdirSync(`${at}/fd`)) ?? []).map((name) => `${at}/fd/${name}`)

/** A path too long for the kernel to show is unknown, and may be on any file system. */
function pathOf(link: string): string {
  try {
    return readlinkSync(link)
  } catch (error) {
    if (errnoOf(error) === 'ENAMETOOLONG') return '/…'
    throw error
  }
}

/** From fdinfo, which the kernel gives without asking the file system. */
function mountOf(link: string): number | undefined {
  const fdinfo = link.replace(/\/fd\/(\d+)$/, '/fdinfo/$1')
  return fdinfo === link ? mountIdBehind(link) : mountIdIn(kernelText(fdinfo))
}

/** A dead server gives no device number for its file, so nothing can be compared, and the file is left out. */
const DEAD = new Set(['ENOTCONN', 'ESTALE', 'EIO', 'EHOSTDOWN'])

function unlessEnded<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (hasEnded(error) || DEAD.has(errnoOf(error) ?? '')) return undefined
    throw error
  }
}
