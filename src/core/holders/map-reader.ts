/**
 * Reading /proc/PID/maps in a process of its own: the kernel may make the reader wait for as long as a process hangs
 * that has its memory locked, in a file of a dead server for example. Who started it can kill it. It takes one request on its
 * standard input, and answers on its standard output with a line for every process, in order.
 */
import { lstatSync, readlinkSync, statSync } from 'node:fs'
import { errnoOf, errorMessage } from '../errors/errors.ts'
import { undeletedPath } from '../mountinfo/deleted.ts'
import { requestOfParent } from '../processes/parent-request.ts'
import { kernelText, namespaceOf } from '../trust/kernel.ts'
import { detachedPaths } from './detached-paths.ts'
import { type MapAnswer, type MapRequest, mapRequest, type StrayInode } from './map-messages.ts'
import { mappedBlocks } from './mapped-blocks.ts'
import { type MappedFile, parseMaps } from './parse-maps.ts'
import { isTooLong } from './process-files.ts'

/** Sets the exit status: 1 where the request is none, or not of this process's parent; nothing is read then. */
export async function readMapsForParent(): Promise<void> {
  const request = await requestOfParent(mapRequest, 'map reader')
  if (request === undefined) return
  const known = new Set(request.detached?.mounts)
  // What is said of one process is out before the next one is looked at: a pipe that is full takes no more, and what
  // waits for it would be lost with the process.
  for (const pid of request.pids) await said(`${JSON.stringify(answerOf(pid, request, known))}\n`)
}

function said(line: string): Promise<void> {
  return new Promise((settle, fail) => {
    process.stdout.write(line, (error) => (error == null ? settle() : fail(error)))
  })
}

function answerOf(
  pid: number,
  { devices, detached, blocks, standing, descriptors = [] }: MapRequest,
  known: ReadonlySet<number>,
): MapAnswer {
  try {
    const all = devices.length === 0 ? [] : parseMaps(kernelText(`/proc/${pid}/maps`))
    const maps = all.filter(({ dev }) => devices.includes(dev))
    const left = detached === undefined ? [] : detachedPaths(pid, detached.devices, known)
    const mapped = blocks === undefined ? [] : mappedBlocks(pid, blocks)
    const paths = [...new Set([...maps.map(({ path }) => path), ...left, ...mapped])]
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

/** One that is too long for the kernel to name leads nowhere. */
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
    // What another namespace's root is nothing but this very link tells.
    if (what === 'root' && path === '/' && !isHere(pid)) return []
    return leadsTo(pid, path, file.ino) ? [] : [{ what, path, inode: file.ino, dev: file.dev }]
  })
}

/** By the process's root or by ours: the kernel names a path from the top of its namespace, whose path it may be. */
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
