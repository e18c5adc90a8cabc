/**
 * Runs volctl again inside another mount namespace (S6). The program itself need not exist there: it is reached through
 * this process's links in /proc, which lead into the namespace that it was started in and last as long as it waits.
 */
import { readlinkSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { SafetyRefusal, VolctlError } from '../errors/errors.ts'
import { caller, callerWord, mayReenter } from '../trust/caller.ts'
import { enterNamespace, openNamespace } from '../trust/enter-namespace.ts'
import { PinnedProcess } from '../trust/processes.ts'

export interface Reentry {
  /** A descriptor of the mount namespace (openNamespace). */
  readonly mountNamespace: number
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
  try {
    using first = new PinnedProcess(1, proc)
    const theirs = { mounts: linkOf(first, 'ns/mnt'), pids: linkOf(first, 'ns/pid') }
    if (theirs.mounts === readlinkSync('/proc/self/ns/mnt')) return undefined
    // setns(2) leads into PID namespaces below one's own, never back into the host's.
    if (theirs.pids !== readlinkSync('/proc/self/ns/pid')) {
      throw new VolctlError(
        'HostRootIncomplete',
        `--host-root ${hostRoot}: this container has its own PID namespace, and cannot see the host's processes`,
        { hint: 'Run the container with hostPID.' },
      )
    }
    const pid = Number(basename(readlinkSync(`${proc}/self`)))
    return { mountNamespace: openNamespace(first, theirs.mounts), pid }
  } catch (cause) {
    if (cause instanceof VolctlError) throw cause
    throw new VolctlError(
      'HostRootIncomplete',
      `--host-root ${hostRoot}: the host's processes cannot be seen in ${proc}`,
      {
        cause,
        hint: "Mount the host's / there with its /proc, and run the container privileged and with hostPID.",
      },
    )
  }
}

function linkOf(process: PinnedProcess, name: string): string {
  const link = process.link(name)
  if (link === undefined) throw new Error(`${name} cannot be read`)
  return link
}

/** Into the namespace of another process of this host; see WrongNamespace. */
export function namespaceReentry(mountNamespace: number): Reentry {
  return { mountNamespace, pid: process.pid }
}

export interface Program {
  readonly execArgv: readonly string[]
  /** Script, and what the user typed. */
  readonly argv: readonly string[]
}

/** Pure: what is run there. The script's links are not resolved: their targets are paths of our namespace. */
export function reentryCommand(pid: number, program: Program, word: string): readonly string[] {
  const [script, ...args] = program.argv
  const own = `/proc/${pid}`
  return [
    `${own}/exe`,
    '--preserve-symlinks',
    '--preserve-symlinks-main',
    ...program.execArgv,
    ...(script === undefined ? [] : [`${own}/root${resolve(script)}`]),
    word,
    ...args,
  ]
}

/**
 * Starts volctl there, waits, and gives its exit status. Standard streams and signals are the child's.
 *
 * @throws SafetyRefusal where it has been tried already, and VolctlError where nsenter is missing
 */
export function reenter({ mountNamespace, pid }: Reentry): Promise<number> {
  if (!mayReenter()) {
    throw new SafetyRefusal(
      'S6',
      'WrongMountNamespace',
      'volctl could not get into the mount namespace of the kubelet',
      {
        hint: 'Run volctl on the node itself, as root, outside of any container.',
      },
    )
  }
  const [, script = '', ...args] = process.argv
  const typed = acceptedArguments(args)
  const program = { execArgv: process.execArgv, argv: [script, ...typed] }
  return enterNamespace(mountNamespace, reentryCommand(pid, program, callerWord()))
}

/** Without the word of a run before this one. */
function acceptedArguments(args: readonly string[]): readonly string[] {
  return caller() === undefined ? args : args.slice(1)
}
