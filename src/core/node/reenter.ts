/**
 * Runs volctl again inside another mount namespace (S6). The program itself need not exist there: it is reached through
 * this process's links in /proc, which lead into the namespace that it was started in and last as long as it waits.
 */
import { spawn } from 'node:child_process'
import { existsSync, readlinkSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { CALLER_VARIABLE } from '../cli/caller-path.ts'
import { SafetyRefusal, VolctlError } from '../errors.ts'

/** How often volctl may start itself anew: into the host, from there into the kubelet's namespace. */
const DEPTH_VARIABLE = 'VOLCTL_REENTERED'
const MAX_DEPTH = 2

export interface Reentry {
  /** /proc/N/ns/mnt */
  readonly mountNamespace: string
  /** Our own pid, as the /proc of the new namespace knows us. */
  readonly pid: number
}

/**
 * Into the host's mount namespace from a container that has the host's root file system mounted (--host-root), and its
 * processes in sight.
 *
 * @returns undefined where we stand there already
 * @throws VolctlError HostRootIncomplete
 */
export function hostReentry(hostRoot: string): Reentry | undefined {
  const proc = `${hostRoot.replace(/\/+$/, '')}/proc`
  const mountNamespace = `${proc}/1/ns/mnt`
  let self: number
  let same: boolean
  let samePids: boolean
  try {
    self = Number(basename(readlinkSync(`${proc}/self`)))
    same = readlinkSync(mountNamespace) === readlinkSync('/proc/self/ns/mnt')
    samePids = readlinkSync(`${proc}/1/ns/pid`) === readlinkSync('/proc/self/ns/pid')
  } catch (error) {
    throw new VolctlError(
      'HostRootIncomplete',
      `--host-root ${hostRoot}: the host's processes cannot be seen in ${proc}`,
      {
        cause: error,
        hint: "Mount the host's / there with its /proc, and run the container privileged and with hostPID.",
      },
    )
  }
  if (same) return undefined
  // setns(2) leads into PID namespaces below one's own, never back into the host's.
  if (!samePids) {
    throw new VolctlError(
      'HostRootIncomplete',
      `--host-root ${hostRoot}: this container has processes of its own, and cannot act among the host's`,
      { hint: 'Run the container with hostPID.' },
    )
  }
  return { mountNamespace, pid: self }
}

/** Into the namespace of another process of this host; see WrongNamespace. */
export function namespaceReentry(mountNamespace: string): Reentry {
  return { mountNamespace, pid: process.pid }
}

export interface Program {
  readonly execArgv: readonly string[]
  /** Script, and what the user typed. */
  readonly argv: readonly string[]
}

/** Pure: the nsenter(1) command line. The script's links are not resolved: their targets are paths of our namespace. */
export function reentryCommand(reentry: Reentry, program: Program): readonly string[] {
  const [script, ...args] = program.argv
  const own = `/proc/${reentry.pid}`
  return [
    `--mount=${reentry.mountNamespace}`,
    '--',
    `${own}/exe`,
    '--preserve-symlinks',
    '--preserve-symlinks-main',
    ...program.execArgv,
    ...(script === undefined ? [] : [`${own}/root${resolve(script)}`]),
    ...args,
  ]
}

/**
 * Starts volctl there, waits, and gives its exit status. Standard streams and signals are the child's.
 *
 * @throws SafetyRefusal where it has been tried already, and VolctlError where nsenter is missing
 */
export async function reenter(reentry: Reentry): Promise<number> {
  const depth = Number(process.env[DEPTH_VARIABLE] ?? 0)
  if (depth >= MAX_DEPTH) {
    throw new SafetyRefusal(
      'S6',
      'WrongMountNamespace',
      'volctl could not get into the mount namespace of the kubelet',
      {
        hint: 'Run it on the node itself, as root, outside of any container.',
      },
    )
  }
  if (!existsSync(reentry.mountNamespace)) {
    throw new VolctlError('NamespaceGone', `${reentry.mountNamespace} is gone`, { hint: 'Try again.' })
  }
  const args = reentryCommand(reentry, {
    execArgv: process.execArgv,
    argv: process.argv.slice(1),
  })
  const child = spawn('nsenter', args, {
    stdio: 'inherit',
    env: {
      [CALLER_VARIABLE]: `/proc/${reentry.pid}`,
      ...(depth === 0 ? withoutCaller(process.env) : process.env),
      [DEPTH_VARIABLE]: String(depth + 1),
    },
  })
  const forward = (signal: NodeJS.Signals): void => void child.kill(signal)
  // A terminal sends Ctrl-C to both: it is the child's to act on. Other signals reach only us.
  const ignore = (): void => {}
  process.on('SIGINT', ignore).on('SIGTERM', forward).on('SIGHUP', forward)
  try {
    return await new Promise<number>((settle, fail) => {
      child.once('error', (cause) =>
        fail(new VolctlError('NsenterMissing', 'nsenter could not be started', { cause, hint: 'Install util-linux.' })),
      )
      child.once('exit', (status, signal) => settle(status ?? (signal === 'SIGINT' ? 130 : 1)))
    })
  } finally {
    process.off('SIGINT', ignore).off('SIGTERM', forward).off('SIGHUP', forward)
  }
}

/** Only a run that volctl started itself has a caller. */
function withoutCaller({ [CALLER_VARIABLE]: _, ...rest }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return rest
}
