/**
 * Bound unix sockets. The path of one is what its process gave to bind(2), in whatever mount namespace: any user chooses it, it may lead
 * anywhere, and nobody follows it (S36). What identifies the file is its file system and inode, which the kernel tells ss(8).
 */

import { errorMessage } from '../base/errors.ts'
import { deviceNumberFrom } from '../linux/block/device-use.ts'
import { processName, type Unseen, unseenOf } from '../linux/mount-namespaces.ts'
import { SCAN_LIMITS, SCAN_MS } from '../linux/scan-limits.ts'
import { inNetworkOf } from '../trust/enter-namespace.ts'
import { namespaceOf, processIds } from '../trust/kernel.ts'
import { commandPath, runCommand } from '../trust/programs.ts'

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
