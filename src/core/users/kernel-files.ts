/** Files that the kernel itself uses, and directories that it exports: loop devices, swap areas, NFS exports, bound unix sockets (S12). */

import { realpathSync } from 'node:fs'
import { deviceNumberFrom, readLoops, swapAreas } from '../linux/block/device-use.ts'
import { processName, type Unseen, unseenOf } from '../linux/mount-namespaces.ts'
import { EXPORTS_BYTES, SCAN_LIMITS, SCAN_MS } from '../linux/scan-limits.ts'
import { errorMessage, type Hint, isMissing } from '../messages/findings.ts'
import { decodeOctal, kernelText, namespaceOf, processIds } from '../trust/kernel.ts'
import { readPlain } from '../trust/plain-files.ts'
import { commandPath, inNetworkOf, runCommand } from '../trust/programs.ts'

export interface LoopFile {
  readonly device: string
  /** As the kernel names it: from the root of the mount namespace in which it was opened. */
  readonly backingFile: string
  /** Identifies the file; absent: losetup(8) does not show it. */
  readonly file?: { readonly dev: string; readonly inode: number }
}

const LOSETUP = ['--list', '--noheadings', '--raw', '--output', 'NAME,BACK-INO,BACK-MAJ:MIN']

interface Files<T> {
  readonly files: readonly T[]
  /** What the kernel, or losetup(8), did not say: any file may be one then. */
  readonly unseen: readonly Unseen[]
}

/** Where there is no loop device, losetup(8) is not asked. */
export async function loopFiles(loops: readonly LoopFile[] = readLoops(), run = runCommand): Promise<Files<LoopFile>> {
  if (loops.length === 0) return { files: loops, unseen: [] }
  try {
    const { status, stdout, timedOut } = await run('losetup', LOSETUP, SCAN_MS.losetup)
    if (timedOut) throw new Error(`losetup did not end within ${SCAN_MS.losetup / 1000} s`)
    if (status !== 0) throw new Error(`losetup ended with ${status}`)
    const inodes = loopInodes(stdout)
    return { files: loops.map((loop) => ({ ...loop, file: inodes.get(loop.device) })), unseen: [] }
  } catch (error) {
    const hint = 'See what losetup --list says, or does not.'
    return { files: loops, unseen: [unread('the files of loop devices', error, hint)] }
  }
}

/** Fields are right-aligned with blanks, which the raw format escapes. */
export function loopInodes(text: string): Map<string, LoopFile['file']> {
  const lines = text.split('\n').map((line) => line.replaceAll('\\x20', ' ').trim().split(/ +/))
  return new Map(
    lines.flatMap(([device = '', inode = '', dev = '']) =>
      /^\d+$/.test(inode) && /^\d+:\d+$/.test(dev) ? [[device, { dev, inode: Number(inode) }] as const] : [],
    ),
  )
}

/**
 * As the kernel names them: from the root of the mount namespace in which they were opened. No partitions. A kernel without swap has
 * no such list.
 */
export function swapFiles(list = '/proc/swaps'): Files<string> {
  try {
    const areas = swapAreas(kernelText(list)).filter(({ type }) => type === 'file')
    return { files: areas.map(({ name }) => name), unseen: [] }
  } catch (error) {
    if (isMissing(error)) return { files: [], unseen: [] }
    return { files: [], unseen: [unread(`the swap files in ${list}`, error, `See what is wrong with ${list}.`)] }
  }
}

/** What exportfs(8) has exported, and what clients have asked the kernel for. */
const TABLES = ['/var/lib/nfs/etab', '/proc/fs/nfsd/exports']

/** Where there is no NFS server there are no tables. */
export function nfsExports(tables: readonly string[] = TABLES): Files<Export> {
  const files: Export[] = []
  const unseen: Unseen[] = []
  for (const file of tables) {
    try {
      // Through a link too: exportfs(8) reads and writes through it.
      const isKernels = file.startsWith('/proc/')
      const text = isKernels ? kernelText(file) : readPlain(realpathSync(file), EXPORTS_BYTES).toString('utf8')
      for (const each of parseExports(text)) files.push(each)
    } catch (error) {
      if (isMissing(error)) continue
      const hint = `See what is wrong with ${file}; if nothing is exported, stop the NFS server.`
      unseen.push(unread(`the NFS exports in ${file}`, error, hint))
    }
  }
  return { files, unseen }
}

type Export = ReturnType<typeof parseExports>[number]

/** `/path<tab>client(option,option)`, a line each; blanks in a path are octal. */
export function parseExports(text: string) {
  return text.split('\n').flatMap((line) => {
    const [path = '', client = ''] = line.split(/[ \t]+/)
    if (!path.startsWith('/')) return []
    return {
      /** As the exporting process sees it. */
      path: decodeOctal(path),
      client: client.replace(/\(.*/, ''),
      /** Clients see what is mounted below it as well (crossmnt). */
      crosses: /[(,](?:crossmnt|nohide)[,)]/.test(client),
    }
  })
}

function unread(what: string, error: unknown, hint: Hint): Unseen {
  return { text: `${what} could not be read: ${errorMessage(error)}`, hint }
}

// Bound unix sockets. The path of one is what its process gave to bind(2), in whatever mount namespace: any user chooses it, it may lead
// anywhere, and nobody follows it (S36). What identifies the file is its file system and inode, which the kernel tells ss(8).

type BoundSockets = Awaited<ReturnType<typeof boundSockets>>

/**
 * Of every network namespace that a process is in. One that only processes of other user namespaces are in counts as far as it was read:
 * anybody can make any number of them (S39).
 */
export async function boundSockets(run = runCommand) {
  /**
   * A process in whose network it is, by the number of the file's file system, as mount tables have it, and the 32 bits of its inode that
   * the kernel tells.
   */
  const files = new Map<string, number>()
  /** Networks whose sockets could not be read: any file may be one of theirs. */
  const unseen: Unseen[] = []
  const nodes = namespaceOf('self', 'user')
  const isNodes = (pid: number): boolean => namespaceOf(pid, 'user') === nodes
  const networks = Map.groupBy(processIds(), (pid) => namespaceOf(pid, 'net'))
  networks.delete(undefined)
  const until = performance.now() + SCAN_MS.sockets
  for (const [network, pids] of networks) {
    const own = pids.filter(isNodes)
    if (own.length === 0 && performance.now() > until) continue
    for (const pid of own.length > 0 ? own : pids) {
      const why = await readNetwork(pid, files, run)
      // Another process of the namespace may still show it.
      if (why !== undefined && namespaceOf(pid, 'net') !== network) continue
      const text = `the unix sockets in the network of ${processName(pid)} (pid ${pid}) could not be read: ${why}`
      if (why !== undefined && own.length > 0) unseen.push(unseenOf([pid], text))
      break
    }
  }
  return { files, unseen }
}

/** @returns why it was not read */
async function readNetwork(
  pid: number,
  files: Map<string, number>,
  run: typeof runCommand,
): Promise<string | undefined> {
  let paths = 0
  let inodes = 0
  const onLine = (line: string): void => {
    if (/^u_\S+ +\S+ +\d+ +\d+ +[^*@\s]/.test(line)) paths += 1
    const file = fileOf(line)
    if (file === undefined) return
    inodes += 1
    if (files.size < SCAN_LIMITS.sockets) files.set(file, pid)
  }
  try {
    const [program, ...args] = inNetworkOf(pid, [commandPath('ss'), '-xaeH'])
    const { status, stderr } = await run(program, args, SCAN_MS.sockets, '', { onLine })
    if (status !== 0) return stderr.trim() || 'ss did not end'
  } catch (error) {
    return errorMessage(error)
  }
  if (files.size === SCAN_LIMITS.sockets) return `there are more than ${SCAN_LIMITS.sockets}`
  // The kernel's older list has none.
  return paths > 0 && inodes === 0 ? 'ss does not show the inodes' : undefined
}

/** @param file of which it is told whether it is bound, for messages: by whom */
export async function boundAt(
  { files }: BoundSockets,
  { dev, inode }: { readonly dev: string; readonly inode: number },
): Promise<string | undefined> {
  const file = `${dev} ${inode % 2 ** 32}`
  const pid = files.get(file)
  if (pid === undefined) return undefined
  let found: string | undefined
  const onLine = (line: string): void => {
    if (fileOf(line) === file) found = line
  }
  const [program, ...args] = inNetworkOf(pid, [commandPath('ss'), '-xaepH'])
  await runCommand(program, args, SCAN_MS.sockets, '', { onLine })
  return describeSocket(found ?? '')
}

/** Of a line of ss(8), by its end: a path before it may look like one, and may have line breaks. */
function fileOf(line: string): string | undefined {
  const [, inode, high, low] = /.*<-> ino:(\d+) dev:(\d+)\/(\d+)/.exec(line) ?? []
  return inode === undefined ? undefined : `${deviceNumberFrom(Number(high) * 2 ** 16 + Number(low))} ${inode}`
}

/** type state queue queue path number * number users <-> ino:INODE dev:DEVICE */
function describeSocket(line: string): string {
  const path = /^(?:u_\S+ +\S+ +\d+ +\d+ +)?(.*) \d+ \* \d+ /.exec(line)?.[1]?.trim()
  const [, name, pid] = /.* users:\(\("([^"]*)",pid=(\d+)/.exec(line) ?? []
  return `the unix socket that is bound to ${path}${pid === undefined ? '' : ` by ${name} (pid ${pid})`}`
}
