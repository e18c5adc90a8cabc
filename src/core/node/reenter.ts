/**
 * Runs volctl again inside another mount namespace (S6). The program need not exist there: it is reached through this
 * process's links in /proc, which lead to the namespace in which it was started, and exist as long as this process waits.
 */

import { readlinkSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { SafetyRefusal, said, VolctlError } from '../messages/findings.ts'
import { ownLibraryPath, ownOptions, ownScript } from '../trust/own-program.ts'
import { openNamespace, PinnedProcess } from '../trust/processes.ts'
import { enterNamespace } from '../trust/programs.ts'
import { callerWord, mayReenter, thisRun } from '../trust/run.ts'

interface Reentry {
  /** A descriptor of the mount namespace (openNamespace). */
  readonly mountNamespace: number
  /** The pid of this process in the /proc of the new namespace; absent: it has the same there. */
  readonly pid?: number
}

/**
 * From a container that has the host's root file system mounted (--host-root) and sees its processes, into the host's mount
 * namespace.
 *
 * @returns undefined if volctl is already in that namespace
 * @throws VolctlError WrongNamespace
 */
export function hostReentry(hostRoot: string): Reentry | undefined {
  const proc = `${hostRoot.replace(/\/+$/, '')}/proc`
  try {
    using first = new PinnedProcess(1, proc)
    const theirs = { mounts: linkOf(first, 'ns/mnt'), pids: linkOf(first, 'ns/pid') }
    if (theirs.mounts === readlinkSync('/proc/self/ns/mnt')) return undefined
    // setns(2) can only enter PID namespaces below its caller's, never the host's above.
    if (theirs.pids !== readlinkSync('/proc/self/ns/pid')) {
      throw new VolctlError(said('WrongNamespace.pidNamespace', { hostRoot }))
    }
    const pid = Number(basename(readlinkSync(`${proc}/self`)))
    return { mountNamespace: openNamespace(first, theirs.mounts), pid }
  } catch (cause) {
    if (cause instanceof VolctlError) throw cause
    throw new VolctlError(said('WrongNamespace.hostProcesses', { hostRoot, proc }), {
      cause,
      hint: "Mount the host's / there with its /proc, and run the container privileged and with hostPID.",
    })
  }
}

function linkOf(process: PinnedProcess, name: string): string {
  const link = process.link(name)
  if (link === undefined) throw new Error(`${name} cannot be read`)
  return link
}

/**
 * Pure: the command to run there. Links in the script's path are not resolved: their targets are paths of our namespace.
 *
 * @param script undefined: the program is one executable, with its script and options inside
 */
export function reentryCommand(
  pid: number,
  script: string | undefined,
  options: readonly string[],
  args: readonly string[],
): readonly string[] {
  const own = `/proc/${pid}`
  if (script === undefined) return [`${own}/exe`, ...args]
  const ofNode = ['--preserve-symlinks', '--preserve-symlinks-main', ...options]
  return [`${own}/exe`, ...ofNode, `${own}/root${resolve(script)}`, ...args]
}

/**
 * Starts volctl in the other namespace, waits, and returns its exit status. The child gets the standard streams and signals.
 *
 * @throws SafetyRefusal if that was tried before, VolctlError if nsenter is missing
 */
export function reenter({ mountNamespace, pid = process.pid }: Reentry): Promise<number> {
  if (!mayReenter()) {
    throw new SafetyRefusal('S6', said('WrongNamespace.notEntered'))
  }
  const command = reentryCommand(pid, ownScript(), ownOptions(), [callerWord(), ...thisRun().argv])
  return enterNamespace(mountNamespace, command, ownLibraryPath(pid))
}
