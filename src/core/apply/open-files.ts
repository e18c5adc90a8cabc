/** Which processes hold a path: working directories, roots and open files, by readlink alone (a stat could hang). */
import { readlinkSync } from 'node:fs'
import type { MountTable } from '../mountinfo/mount-table.ts'
import { linkIfAny, listIfAny, namespaceOf } from '../node/read-text.ts'
import { isWithin } from '../path-within.ts'
import type { OtherNamespace } from './host.ts'
import { type Location, locate } from './location.ts'
import { processIds, processName } from './other-namespaces.ts'

export interface Holder {
  readonly pid: number
  readonly process: string
  readonly what: 'cwd' | 'root' | 'file'
  /** As the process sees it. */
  readonly path: string
}

/**
 * In our own mount namespace a path says it all; a process of another one is asked where its path lies, by device and
 * path inside the file system, since a container sees the same directory under another name.
 */
export function holdersBelow(
  table: MountTable,
  path: string,
  others: readonly OtherNamespace[],
  proc = '/proc',
): Holder[] {
  const ours = readlinkSync(`${proc}/self/ns/mnt`)
  const target = locate(table, path)
  const tables = new Map(others.map((other) => [namespaceOf(other.pid, 'mnt', proc), other.table]))
  const holders: Holder[] = []
  for (const pid of processIds(proc)) {
    if (pid === process.pid) continue
    const namespace = namespaceOf(pid, 'mnt', proc)
    const theirs = namespace === undefined ? undefined : tables.get(namespace)
    for (const [what, link] of linksOf(pid, proc)) {
      const holds = namespace === ours ? isWithin(link, path) : liesBelow(theirs, link, target)
      if (holds) holders.push({ pid, process: processName(pid, proc), what, path: link })
    }
  }
  return holders
}

export function describeHolders(holders: readonly Holder[]): string {
  const names = [...new Set(holders.map(({ pid, process: name, what }) => `${name} (pid ${pid}, ${what})`))]
  return names.length > 4 ? `${names.slice(0, 4).join(', ')} and ${names.length - 4} more` : names.join(', ')
}

function liesBelow(table: MountTable | undefined, link: string, target: Location | undefined): boolean {
  if (table === undefined || target === undefined) return false
  const location = locate(table, link)
  return location !== undefined && location.dev === target.dev && isWithin(location.path, target.path)
}

function* linksOf(pid: number, proc: string): Generator<readonly [Holder['what'], string]> {
  for (const what of ['cwd', 'root'] as const) {
    const link = linkAt(`${proc}/${pid}/${what}`)
    if (link !== undefined) yield [what, link]
  }
  for (const name of listIfAny(`${proc}/${pid}/fd`)) {
    const link = linkAt(`${proc}/${pid}/fd/${name}`)
    if (link !== undefined) yield ['file', link]
  }
}

/** Sockets, pipes and their like begin with a letter and hold no path. */
function linkAt(path: string): string | undefined {
  const link = linkIfAny(path)
  return link?.startsWith('/') ? link : undefined
}
