/**
 * The gate for mount namespaces: no other file enters one.
 *
 * volctl runs again inside, and the kernel then takes the dynamic loader and the libraries of the program from there: whoever
 * made that namespace chooses what root runs. So it is entered only after its process is shown to be root's and the
 * namespace the host's (processes.ts), by a descriptor that was taken while that process was pinned (S32).
 */
import { constants, openSync } from 'node:fs'
import { VolctlError } from '../errors/errors.ts'
import { linkIfAny } from './kernel.ts'
import type { PinnedProcess } from './processes.ts'
import { runInForeground } from './programs.ts'

/**
 * @param expected what its link said when it was judged
 * @returns a descriptor, for enterNamespace
 * @throws VolctlError NamespaceGone
 */
export function openNamespace(process: PinnedProcess, expected: string): number {
  const gone = (cause?: unknown): VolctlError =>
    new VolctlError('NamespaceGone', `the mount namespace of process ${process.pid} is gone`, {
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

/** The descriptor of the namespace in nsenter(1) itself. */
const CHILD_DESCRIPTOR = 3

/**
 * Runs a program there in this one's place on the terminal, and gives its exit status.
 *
 * @param namespace of openNamespace
 * @param command absolute path of the program, and its arguments
 * @throws VolctlError where nsenter(1) is missing or may not be run
 */
export function enterNamespace(namespace: number, command: readonly string[]): Promise<number> {
  const args = [`--mount=/proc/self/fd/${CHILD_DESCRIPTOR}`, '--', ...command]
  return runInForeground('nsenter', args, { descriptors: [namespace] })
}
