/**
 * Reads /proc/PID/maps in a process of its own: if another process hangs with its memory map locked (on a file of a dead
 * server), the kernel makes the reader hang as well. Its parent can kill it. It reads one request from its standard input,
 * and writes a line for every process, in order, to its standard output.
 */
import { lstatSync, readlinkSync, statSync, writeSync } from 'node:fs'
import { errnoOf, errorMessage } from '../errors/errors.ts'
import { undeletedPath } from '../mountinfo/deleted.ts'
import { requestOfParent } from '../processes/parent-request.ts'
import { kernelText, namespaceOf } from '../trust/kernel.ts'
import { detachedPaths } from './detached-paths.ts'
import { type MapAnswer, type MapRequest, mapRequest, type StrayInode } from './map-messages.ts'
import { mappedBlocks } from './mapped-blocks.ts'
import { type MappedFile, parseMaps } from './parse-maps.ts'
import { isTooLong } from './process-files.ts'

const STDOUT = 1

/** Sets exit status 1, and reads nothing, where the input is not a request of this process's parent. */
export async function readMapsForParent(): Promise<void> {
  const request = await requestOfParent(mapRequest, 'map reader')
  if (request === undefined) return
  const known = new Set(request.detached?.mounts)
  // Each line is written before the next process is read: what still waits for a full pipe would be lost if this process is
  // killed. Standard output is a pipe that nobody has made non-blocking.
  for (const pid of request.pids) write(`${JSON.stringify(answerOf(pid, request, known))}\n`)
}

function write(line: string): void {
  const bytes = Buffer.from(line)
  for (let from = 0; from < bytes.length; ) from += writeSync(STDOUT, bytes, from)
}

function answerOf(
  pid: number,
  { devices, detached, blocks, standing, descriptors = [] }: MapRequest,
  known: ReadonlySet<number>,
): MapAnswer {
  try {
    const all = devices.length === 0 ? [] : parseMaps(kernelText(`/proc/${pid}/maps`))
    const maps = all.filter(({ dev }) => devices.includes(dev))
    const hidden = detached === undefined ? [] : detachedPaths(pid, detached.devices, known)
    const mapped = blocks === undefined ? [] : mappedBlocks(pid, blocks)
    const paths = [...new Set([...maps.map(({ path }) => path), ...hidden, ...mapped])]
    if (standing === undefined) return { pid, paths }
    const open = descriptors.flatMap((each) => (each.pid === pid ? openStray(each.link) : []))
    const strays = [...open, ...mappedStrays(pid, maps), ...(standing.includes(pid) ? standingStrays(pid) : [])]
    return { pid, paths, strays }
  } catch (error) {
    return { pid, paths: [], error: errnoOf(error) ?? errorMessage(error) }
  }
}

function openStray(link: string): StrayInode[] {
  const path = pathOf(link)
  const file = path === undefined ? undefined : ifAny(() => statSync(link))
  return path === undefined || file === undefined ? [] : [{ what: 'file', path, inode: file.ino, dev: file.dev }]
}

/** The link's target; a path that is too long for the kernel to show leads nowhere. */
function pathOf(link: string): string | undefined {
  return isTooLong(link) ? '/…' : ifAny(() => readlinkSync(link))
}

function mappedStrays(pid: number, maps: readonly MappedFile[]): StrayInode[] {
  const files = new Map(maps.map((file) => [`${file.inode} ${file.path}`, file]))
  return [...files.values()].flatMap(({ path, inode }) =>
    leadsTo(pid, path, inode) ? [] : [{ what: 'map' as const, path, inode }],
  )
}

function standingStrays(pid: number): StrayInode[] {
  return (['cwd', 'root'] as const).flatMap((what) => {
    const path = pathOf(`/proc/${pid}/${what}`)
    const file = ifAny(() => statSync(`/proc/${pid}/${what}/.`))
    if (path === undefined || file === undefined) return []
    // The root of another namespace is only reachable by this very link.
    if (what === 'root' && path === '/' && !isHere(pid)) return []
    return leadsTo(pid, path, file.ino) ? [] : [{ what, path, inode: file.ino, dev: file.dev }]
  })
}

/** True if the path leads to this inode, from the process's root or from ours: the path may be one of either namespace. */
function leadsTo(pid: number, path: string, inode: number): boolean {
  const plain = undeletedPath(path)
  return [`/proc/${pid}/root${plain}`, plain].some((each) => ifAny(() => lstatSync(each).ino) === inode)
}

function isHere(pid: number): boolean {
  return namespaceOf(pid, 'mnt') === namespaceOf('self', 'mnt')
}

function ifAny<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}
