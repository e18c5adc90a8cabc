/**
 * Finds dead mounts: FUSE and network file systems whose daemon or server is gone.
 *
 * volctl itself must not touch such a mount, not even by an asynchronous call: that would fill libuv's pool and keep the
 * process from ending. A child with a deadline probes each mount; a child that even SIGKILL does not end is abandoned.
 */

import { isWithin } from '../files/path-within.ts'
import { compareText } from '../lang/compare-text.ts'
import type { NodeSnapshot } from '../model/snapshot.ts'
import { undeletedPath } from '../mountinfo/deleted.ts'
import type { MountTable } from '../mountinfo/mount-table.ts'
import { runCommand } from '../trust/programs.ts'

type DeadMount = NonNullable<NodeSnapshot['deadMounts']>[number]

const DEADLINE_MS = 2000
/** Children at once. A mount that is not probed before the deadline does not count as dead. */
const PARALLEL = 64

/** File systems that are served by a process or another machine. */
const REMOTE = /^(fuse|fuse\..*|fuseblk|nfs|nfs4|cifs|smb3|ceph|9p|glusterfs|lustre|afs|beegfs|orangefs|virtiofs)$/

/**
 * Errors of statfs(2) on a dead file system, as coreutils, busybox and older C libraries print them at the end of their line
 * (P116, without EACCES). Compared whole: "No such device or address" is no sign of death, nor is a path with such words.
 */
const ERRORS: ReadonlyMap<string, string> = new Map([
  ['transport endpoint is not connected', 'ENOTCONN'],
  ['socket not connected', 'ENOTCONN'],
  ['stale file handle', 'ESTALE'],
  ['stale nfs file handle', 'ESTALE'],
  ['input/output error', 'EIO'],
  ['i/o error', 'EIO'],
  ['host is down', 'EHOSTDOWN'],
  ['no such device', 'ENODEV'],
  ['resource temporarily unavailable', 'EAGAIN'],
  ['software caused connection abort', 'ECONNABORTED'],
  ['connection aborted', 'ECONNABORTED'],
])

export interface ProbeOptions {
  readonly deadlineMs?: number
  /** The command that touches a mount, for tests. */
  readonly command?: (path: string) => readonly [string, ...string[]]
}

/**
 * Probes the topmost mount on every path under the root directory where a remote file system is mounted. A FUSE mount without
 * `allow_other` denies root (EACCES) although it is alive, so that error is no sign of death.
 */
export async function deadMounts(
  table: MountTable,
  rootDir: string,
  options: ProbeOptions = {},
): Promise<readonly DeadMount[]> {
  const remote = table
    .ofTypes((fsType) => REMOTE.test(fsType))
    .filter(({ mountPoint }) => isWithin(undeletedPath(mountPoint), rootDir))
  const paths = [...new Set(remote.map(({ mountPoint }) => mountPoint))].filter((path) =>
    REMOTE.test(table.top(path)?.fsType ?? ''),
  )
  return paths.length === 0 ? [] : probeAll(paths, options)
}

async function probeAll(paths: readonly string[], options: ProbeOptions): Promise<readonly DeadMount[]> {
  const end = performance.now() + (options.deadlineMs ?? DEADLINE_MS)
  const dead: DeadMount[] = []
  let next = 0
  const worker = async (): Promise<void> => {
    for (let path = paths[next++]; path !== undefined && performance.now() < end; path = paths[next++]) {
      const error = await probe(path, end - performance.now(), options.command ?? statfs)
      if (error !== undefined) dead.push({ path, error })
    }
  }
  await Promise.all(Array.from({ length: Math.min(PARALLEL, paths.length) }, worker))
  return dead.sort((a, b) => compareText(a.path, b.path))
}

function statfs(path: string): readonly [string, ...string[]] {
  return ['stat', '-f', '-c', '%T', '--', path]
}

/** The error that shows that the mount is dead; "Timeout" if it did not answer; undefined if it is alive, or unknown. */
async function probe(
  path: string,
  deadlineMs: number,
  command: (path: string) => readonly [string, ...string[]],
): Promise<string | undefined> {
  const [file, ...args] = command(path)
  const result = await runCommand(file, args, deadlineMs).catch(() => undefined)
  if (result === undefined) return undefined
  if (result.timedOut) return 'Timeout'
  return result.status === 0 ? undefined : errorIn(result.stderr)
}

function errorIn(output: string): string | undefined {
  return ERRORS.get(output.trimEnd().split(': ').at(-1)?.toLowerCase() ?? '')
}
