/** Running the few commands that touch a mount or a device: no shell, a fixed environment, a deadline, and nobody waited for at exit. */
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { errnoOf, VolctlError } from '../errors.ts'
import type { CommandResult } from './host.ts'

/** Where programs are looked for, here and by them. */
const DIRECTORIES = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin', '/usr/local/sbin']
/** What a program needs that is not of util-linux, by package name. */
const PACKAGES: Readonly<Record<string, string>> = {
  btrfs: 'btrfs-progs',
  iscsiadm: 'open-iscsi',
  multipath: 'multipath-tools',
  'mount.nfs': 'nfs-common (nfs-utils)',
  resize2fs: 'e2fsprogs',
  xfs_growfs: 'xfsprogs',
}
const UMASK = 0o022
const GRACE_MS = 300
const OUTPUT_LIMIT = 1 << 20
const found = new Map<string, string>()

/** Absolute path of a system command; PATH is nobody's business here. A path is what it says. @throws VolctlError CommandMissing */
export function commandPath(name: string): string {
  if (name.startsWith('/')) return name
  const known = found.get(name)
  if (known !== undefined) return known
  const directory = DIRECTORIES.find((each) => existsSync(`${each}/${name}`))
  if (directory === undefined) {
    throw new VolctlError('CommandMissing', `${name} is not on this host`, {
      hint: `Install ${PACKAGES[name] ?? 'util-linux'}.`,
    })
  }
  const path = `${directory}/${name}`
  found.set(name, path)
  return path
}

export interface Watched {
  /** Called with what the program says on its standard output, piece by piece. */
  readonly onOutput?: (text: string) => void
  /** Ends it as the deadline does. */
  readonly signal?: AbortSignal
}

/**
 * The child leads a session of its own, so that a Ctrl-C on the terminal does not end it half-way. One that does not
 * end by its deadline is killed, with the helpers that it has started (mount.nfs, fsck.ext4); one that is in an
 * uninterruptible call is left behind and named (a dead NFS or FUSE server can hold it for ever, and waiting for its
 * exit would hold volctl too).
 */
export function runCommand(
  name: string,
  args: readonly string[],
  deadlineMs: number,
  input?: string,
  { onOutput, signal }: Watched = {},
): Promise<CommandResult> {
  const child = start(commandPath(name), args)
  // Without a process there may be no pipes either; why it could not be started is told later.
  if (child.pid === undefined)
    return new Promise((_, reject) => child.on('error', (error) => reject(notStarted(name, error))))
  // A program that ends without reading closes the pipe: its exit status says the rest.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const output = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8')
    child[stream].on('data', (text: string) => {
      if (output[stream].length < OUTPUT_LIMIT) output[stream] += text
      if (stream === 'stdout') onOutput?.(text)
    })
  }
  return new Promise((resolve, reject) => {
    let grace: NodeJS.Timeout | undefined
    const finish = (result: CommandResult): void => {
      clearTimeout(deadline)
      clearTimeout(grace)
      signal?.removeEventListener('abort', giveUp)
      resolve(result)
    }
    const giveUp = (): void => {
      clearTimeout(deadline)
      killGroup(child)
      grace ??= setTimeout(() => {
        child.stdout.destroy()
        child.stderr.destroy()
        child.unref()
        const abandoned = child.pid === undefined ? {} : { abandonedPid: child.pid }
        finish({ ...output, status: undefined, timedOut: true, ...abandoned })
      }, GRACE_MS)
    }
    const deadline = setTimeout(giveUp, deadlineMs)
    signal?.addEventListener('abort', giveUp)
    if (signal?.aborted) giveUp()
    child.on('error', (error) => {
      clearTimeout(deadline)
      clearTimeout(grace)
      signal?.removeEventListener('abort', giveUp)
      reject(notStarted(name, error))
    })
    child.on('close', (status, signal) =>
      finish({ ...output, status: status ?? undefined, timedOut: signal === 'SIGKILL' }),
    )
  })
}

/** With a kubelet's umask, whatever that of the caller is: programs make files and directories. */
function start(path: string, args: readonly string[]): ChildProcessWithoutNullStreams {
  const umask = process.umask(UMASK)
  try {
    return spawn(path, args, {
      cwd: '/',
      detached: true,
      env: { LC_ALL: 'C', PATH: DIRECTORIES.join(':') },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
  } finally {
    process.umask(umask)
  }
}

function notStarted(name: string, cause: Error): VolctlError {
  return new VolctlError('CommandFailed', `${name} could not be started: ${cause.message}`, { cause })
}

/** The child leads its group, which lives as long as one of its helpers does. */
function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if (errnoOf(error) !== 'ESRCH') throw error
  }
}
