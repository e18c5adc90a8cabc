/**
 * What a process has open, or is in, on a mount that no table shows any more. In a process of its own (map-reader.ts): the
 * file system is asked for its number, which may be that of a server that does not answer.
 */
import { readdirSync, readlinkSync, statSync } from 'node:fs'
import { deviceNumberFrom } from '../block/device-use.ts'
import { errnoOf } from '../errors/errors.ts'
import { hasEnded, taskIds } from '../processes/mount-namespaces.ts'
import { kernelText, mountIdBehind, mountIdIn } from '../trust/kernel.ts'

/**
 * @param devices "major:minor" of the file systems in question
 * @param known ids of the mounts that a table shows
 * @throws where it may not be read
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

/** One that no page of the kernel's holds is not known, and may be of any file system. */
function pathOf(link: string): string {
  try {
    return readlinkSync(link)
  } catch (error) {
    if (errnoOf(error) === 'ENAMETOOLONG') return '/…'
    throw error
  }
}

/** What the kernel says of a descriptor needs nobody's answer. */
function mountOf(link: string): number | undefined {
  const fdinfo = link.replace(/\/fd\/(\d+)$/, '/fdinfo/$1')
  return fdinfo === link ? mountIdBehind(link) : mountIdIn(kernelText(fdinfo))
}

/** What a dead server or a program that is gone says of its file is no number: it is told apart by none, and left. */
const DEAD = new Set(['ENOTCONN', 'ESTALE', 'EIO', 'EHOSTDOWN'])

function unlessEnded<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (hasEnded(error) || DEAD.has(errnoOf(error) ?? '')) return undefined
    throw error
  }
}
