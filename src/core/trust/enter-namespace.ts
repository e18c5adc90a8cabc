/**
 * The gate for mount namespaces: no other file enters one.
 *
 * volctl runs again inside, with the dynamic loader and the libraries of that namespace: whoever made it decides what root
 * runs. So it is only entered if its process is root's and the namespace is the host's (processes.ts), and through a
 * descriptor that was opened while that process was pinned (S32).
 */
import { constants, openSync } from 'node:fs'
import { VolctlError } from '../base/errors.ts'
import { linkIfAny } from './kernel.ts'
import type { PinnedProcess } from './processes.ts'
import { runInForeground } from './programs.ts'

/**
 * @param expected the namespace's link text when it was judged
 * @returns a descriptor, for enterNamespace
 * @throws VolctlError WrongNamespace
 */
export function openNamespace(process: PinnedProcess, expected: string): number {
  const gone = (cause?: unknown): VolctlError =>
    new VolctlError('WrongNamespace', `the mount namespace of process ${process.pid} is gone`, {
      cause,
      hint: 'Try again.',
    })
  let fd: number
  try {
    fd = openSync(process.path('ns/mnt'), constants.O_RDONLY)
  } catch (error) {
    throw gone(error)
  }
  if (linkIfAny(`/proc/self/fd/${fd}`) !== expected) throw gone()
  return fd
}

/** The program that enters. */
const NAMESPACE_PROGRAM = 'nsenter'

/** Words that run a program of the host's in another network, with nothing else of that process's, whosever it is. */
export function inNetworkOf(pid: number, program: readonly string[]): [string, ...string[]] {
  return [NAMESPACE_PROGRAM, `--net=/proc/${pid}/ns/net`, '--', ...program]
}

/** The namespace's descriptor in the nsenter(1) process. */
const CHILD_DESCRIPTOR = 3

/**
 * Runs a program in the namespace, with this process's terminal, and returns its exit status.
 *
 * @param namespace of openNamespace
 * @param command absolute path of the program, and its arguments
 * @param env added to this process's
 * @throws VolctlError where nsenter(1) is missing or may not be run
 */
export function enterNamespace(
  namespace: number,
  command: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<number> {
  const args = [`--mount=/proc/self/fd/${CHILD_DESCRIPTOR}`, '--', ...command]
  return runInForeground(NAMESPACE_PROGRAM, args, [namespace], env)
}
