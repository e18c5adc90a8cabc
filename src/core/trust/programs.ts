/**
 * The gate for programs: no other file starts one, but for asked-mounts.ts, which asks the file systems on the way to it.
 *
 * No shell, a fixed environment, a deadline, bounded output, and no child keeps volctl from exiting. A program is looked for on
 * a fixed path, never on the caller's. It is only run if nobody but root (or the user who called through sudo) could have
 * written the program, a directory above it or a link on the way (S33).
 */

import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { allowing, errnoOf, isMissing, said, VolctlError } from '../messages/findings.ts'
import { checkTrusted, NotTrusted, TRUST_HINT } from './files.ts'
import { keptLibraryPath, SELF } from './own-program.ts'
import { io, PROGRAM_DIRECTORIES, PROGRAM_ENVIRONMENT, perRun } from './run.ts'

export interface CommandResult {
  /** Undefined: killed, or abandoned. */
  readonly status: number | undefined
  readonly stdout: string
  readonly stderr: string
  readonly timedOut: boolean
  /** A child in an uninterruptible call, which even SIGKILL did not end, and which was abandoned. */
  readonly abandonedPid?: number
  /** The program printed too much, and was killed. */
  readonly flooded?: true
}

/** For the end of a sentence: what is left of one that could not be killed. */
export function leftText({ abandonedPid }: CommandResult): string {
  return abandonedPid === undefined ? '' : `; pid ${abandonedPid} cannot be killed and was left behind`
}

/** Packages of programs that are not in util-linux. */
const PACKAGES: Readonly<Record<string, string>> = {
  btrfs: 'btrfs-progs',
  iscsiadm: 'open-iscsi',
  multipath: 'multipath-tools',
  resize2fs: 'e2fsprogs',
  ss: 'iproute2',
  xfs_growfs: 'xfsprogs',
}
const UMASK = 0o022
const GRACE_MS = 300
/** Enough for output about some hundred thousand paths. */
const OUTPUT_LIMIT = 16 * 1024 * 1024
/** Whom a run trusts, another may not. */
const found = perRun(() => new Map<string, string>())

export class CommandMissing extends VolctlError {
  constructor(name: string) {
    super(said('CommandMissing', { name }), {
      hint: `Install ${PACKAGES[name] ?? 'util-linux'}.`,
    })
  }
}

/**
 * The absolute path of a program that root may run. An absolute path is taken as it is.
 *
 * @throws VolctlError CommandMissing, or NotBelieved where somebody else could have written the program
 */
export function commandPath(name: string): string {
  if (name === SELF) return name
  if (name.startsWith('/')) return trustedProgram(name) ?? name
  const known = found().get(name)
  if (known !== undefined) return known
  let doubt: VolctlError | undefined
  for (const directory of PROGRAM_DIRECTORIES) {
    try {
      const path = trustedProgram(`${directory}/${name}`)
      if (path === undefined) continue
      found().set(name, path)
      return path
    } catch (error) {
      if (!(error instanceof VolctlError)) throw error
      doubt ??= error
    }
  }
  if (doubt !== undefined) throw doubt
  throw new CommandMissing(name)
}

/** Undefined: it is missing or cannot be examined; starting it gives the system's own error. */
function trustedProgram(path: string): string | undefined {
  try {
    checkTrusted(path)
    return path
  } catch (error) {
    if (isMissing(error) || errnoOf(error) === 'EACCES') return undefined
    if (!(error instanceof NotTrusted)) throw error
    throw new VolctlError(said('NotBelieved.program', { path, message: error.message }), {
      cause: error,
      hint: TRUST_HINT,
    })
  }
}

interface Watched {
  readonly onStart?: (pid: number) => void
  /** Called with each whole line of the program's standard output, none of which is kept: who takes them bounds them (S34). */
  readonly onLine?: (line: string) => void
  /** Ends the program as the deadline does. */
  readonly signal?: AbortSignal
  /** Added to the fixed environment, from a trusted file. */
  readonly env?: Readonly<Record<string, string>>
}

/**
 * For a program that only answers a question about this machine (systemctl, lsns): it has no helpers, touches no file system
 * of a volume, and ends when it is killed. execa is loaded by the first of them.
 *
 * @throws VolctlError CommandMissing, NotBelieved or CommandFailed
 */
export async function askProgram(name: string, args: readonly string[], deadlineMs: number): Promise<CommandResult> {
  const path = commandPath(name)
  const { execa } = await import('execa')
  const result = await execa(path, args, {
    cwd: '/',
    // Ctrl-C on the terminal is for volctl.
    detached: true,
    env: PROGRAM_ENVIRONMENT,
    extendEnv: false,
    stdin: 'ignore',
    stripFinalNewline: false,
    timeout: deadlineMs,
    killSignal: 'SIGKILL',
    maxBuffer: OUTPUT_LIMIT,
    reject: false,
  })
  const { exitCode, signal, stdout = '', stderr = '', isMaxBuffer } = result
  if (exitCode === undefined && signal === undefined && !isMaxBuffer) throw notStarted(name, result as Error)
  const timedOut = signal === 'SIGKILL' || isMaxBuffer === true
  return { status: timedOut ? undefined : exitCode, stdout, stderr, timedOut, flooded: isMaxBuffer || undefined }
}

/**
 * Without execa, which waits for the end of the child and of its pipes even after SIGKILL, and does not kill helpers.
 *
 * The child leads its own session, so that a Ctrl-C on the terminal does not end it half-way. One that does not end by
 * its deadline is killed, with the helpers that it has started (mount.nfs, fsck.ext4); one that is in an uninterruptible call
 * is left behind and named (a dead NFS or FUSE server can hold it for ever, and waiting for its exit would hold volctl too).
 */
export function runCommand(
  name: string,
  args: readonly string[],
  deadlineMs: number,
  input = '',
  { onStart, onLine, signal, env = {} }: Watched = {},
): Promise<CommandResult> {
  let child: ChildProcessWithoutNullStreams
  try {
    child = start(commandPath(name), args, env)
  } catch (error) {
    return Promise.reject(error instanceof VolctlError ? error : notStarted(name, error as Error))
  }
  // Without a process there may be no pipes; the error event says why.
  if (child.pid === undefined)
    return new Promise((_, reject) => child.on('error', (error) => reject(notStarted(name, error))))
  onStart?.(child.pid)
  // A program that ends without reading closes the pipe: its exit status says the rest.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const output = { stdout: '', stderr: '' }
  return new Promise((resolve, reject) => {
    let grace: NodeJS.Timeout | undefined
    let flooded = false
    const stopWaiting = (): void => {
      clearTimeout(deadline)
      clearTimeout(grace)
      signal?.removeEventListener('abort', giveUp)
    }
    const finish = (end: Pick<CommandResult, 'status' | 'timedOut' | 'abandonedPid'>): void => {
      stopWaiting()
      resolve({ ...output, ...end, flooded: flooded || undefined })
    }
    const giveUp = (): void => {
      clearTimeout(deadline)
      killGroup(child)
      grace ??= setTimeout(() => {
        child.stdout.destroy()
        child.stderr.destroy()
        child.unref()
        finish({ status: undefined, timedOut: true, abandonedPid: child.pid })
      }, GRACE_MS)
    }
    const deadline = setTimeout(giveUp, Math.ceil(deadlineMs))
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].setEncoding('utf8')
      child[stream].on('data', (text: string) => {
        if (flooded) return
        output[stream] += text
        if (stream === 'stdout' && onLine !== undefined) {
          const lines = output.stdout.split('\n')
          output.stdout = lines.pop() ?? ''
          for (const line of lines) onLine(line)
        }
        flooded = output[stream].length > OUTPUT_LIMIT
        if (flooded) giveUp()
      })
    }
    signal?.addEventListener('abort', giveUp)
    if (signal?.aborted) giveUp()
    child.on('error', (error) => {
      stopWaiting()
      reject(notStarted(name, error))
    })
    child.on('close', (status, signal) => finish({ status: status ?? undefined, timedOut: signal === 'SIGKILL' }))
  })
}

/** With the kubelet's umask instead of the caller's, since programs create files and directories. */
function start(
  path: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): ChildProcessWithoutNullStreams {
  const umask = process.umask(UMASK)
  try {
    return spawn(path, args, {
      cwd: '/',
      detached: true,
      env: { ...PROGRAM_ENVIRONMENT, ...(path === SELF && keptLibraryPath()), ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
  } finally {
    process.umask(umask)
  }
}

function notStarted(name: string, cause: Error): VolctlError {
  return new VolctlError(said('CommandFailed.notStarted', { name, message: cause.message }), { cause })
}

/** Kills the child's process group, which exists as long as one of its helpers does. */
function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  allowing(['ESRCH'], undefined, () => process.kill(-pid, 'SIGKILL'))
}

// What runs in another namespace: a program of the host's in the network of a process, or volctl again in a mount namespace that
// processes.ts has judged (S6).

/** The program that enters. */
const NAMESPACE_PROGRAM = 'nsenter'

/** Words that run a program of the host's in another network, with nothing else of that process's, whosever it is. */
export function inNetworkOf(pid: number, program: readonly string[]): [string, ...string[]] {
  return [NAMESPACE_PROGRAM, `--net=/proc/${pid}/ns/net`, '--', ...program]
}

/**
 * Runs a program in the mount namespace, with this process's standard streams, waits, and returns its exit status. Signals to this process
 * are forwarded to it.
 *
 * @param namespace of openNamespace
 * @param command absolute path of the program, and its arguments
 * @param env added to this process's
 * @throws VolctlError CommandMissing, NotBelieved or CommandFailed: of nsenter(1)
 */
export async function enterNamespace(
  namespace: number,
  command: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<number> {
  const child = spawn(commandPath(NAMESPACE_PROGRAM), ['--mount=/proc/self/fd/3', '--', ...command], {
    stdio: ['inherit', 'inherit', 'inherit', namespace],
    env: { ...io().env, ...env },
  })
  // A terminal sends Ctrl-C to both processes, and the child acts on it. Other signals only reach this process.
  const pass = (signal: NodeJS.Signals): void => {
    if (signal !== 'SIGINT') child.kill(signal)
  }
  const heard = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const { signals } = io()
  for (const signal of heard) signals.on(signal, pass)
  try {
    return await new Promise<number>((settle, fail) => {
      child.once('error', (cause) => fail(notStarted(NAMESPACE_PROGRAM, cause)))
      child.once('close', (status, signal) => settle(status ?? (signal === 'SIGINT' ? 130 : 1)))
    })
  } finally {
    for (const signal of heard) signals.off(signal, pass)
  }
}
