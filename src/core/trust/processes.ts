/**
 * The gate for processes: which of them volctl trusts (S32).
 *
 * Any user may call a process `kubelet` or `containerd`. A process only counts if it is root's: all of its user ids are 0, and
 * it is in the user and PID namespaces of process 1. A kubelet's own data only counts if its mount namespace, too, is that of
 * process 1 or was made by the host's root. Other processes of such names prove nothing, change nothing and refuse nothing.
 *
 * A process is pinned by a descriptor of its directory in /proc: what is read through it belongs to that process, or fails,
 * even if the pid has been reused since.
 */

import { closeSync, constants, openSync } from 'node:fs'
import { allowing, closingOnError, MISSING, said, VolctlError } from '../messages/findings.ts'
import {
  isSameFile,
  kernelText,
  kernelTextIfAny,
  linkIfAny,
  namespaceOf,
  processIds,
  statFields,
  statusField,
} from './kernel.ts'
import { askProgram, commandPath } from './programs.ts'

const LSNS_DEADLINE_MS = 2000

/** One process, and never a later one with the same pid. */
export class PinnedProcess implements Disposable {
  readonly pid: number
  readonly #fd: number
  #open = true

  /** @throws ENOENT where there is no such process */
  constructor(pid: number, proc = '/proc') {
    this.pid = pid
    this.#fd = openSync(`${proc}/${pid}`, constants.O_RDONLY | constants.O_DIRECTORY)
  }

  /** @param name of a file in its directory: `cmdline`, `status` @throws ESRCH or ENOENT once it has ended */
  text(name: string): string {
    return kernelText(this.path(name), 'latin1')
  }

  /** The target of a link in its directory: `cwd`, `ns/mnt`; undefined where it may not be read, or the process has ended. */
  link(name: string): string | undefined {
    return linkIfAny(this.path(name))
  }

  /** A path in its directory; only for system calls of volctl's own process. */
  path(name: string): string {
    if (!this.#open) throw new Error(`process ${this.pid} was let go`)
    return `/proc/self/fd/${this.#fd}/${name}`
  }

  get isThere(): boolean {
    return !['', 'Z', 'X'].includes(statFields(kernelTextIfAny(this.path('stat')) ?? '')[0] ?? '')
  }

  [Symbol.dispose](): void {
    if (this.#open) closeSync(this.#fd)
    this.#open = false
  }
}

/** @returns undefined where it has ended */
export function pin(pid: number, proc = '/proc'): PinnedProcess | undefined {
  return allowing(MISSING, undefined, () => new PinnedProcess(pid, proc))
}

/**
 * Why a process is not root's on this host, for messages; undefined: it is.
 *
 * Without the right to read process 1's namespaces, volctl's own are used instead, and what cannot be read of the other process
 * is taken from its status; nothing is run or entered because of it then.
 */
export function whyNotRoots(process: PinnedProcess, proc = '/proc'): string | undefined {
  const status = kernelTextIfAny(process.path('status')) ?? ''
  const uids = statusField(status, 'Uid')?.split(/\s+/) ?? []
  if (uids.length !== 4) return 'its user cannot be read'
  const other = uids.find((uid) => uid !== '0')
  if (other !== undefined) return `runs as uid ${other}`
  for (const kind of ['user', 'pid'] as const) {
    const theirs = process.link(`ns/${kind}`)
    const ours = namespaceOf(1, kind, proc) ?? namespaceOf('self', kind, proc)
    if (theirs !== undefined && ours !== undefined && theirs !== ours)
      return `runs in its own ${kind === 'pid' ? 'PID' : kind} namespace`
  }
  // A pid for every PID namespace, down to the process's own.
  const numbers = statusField(status, 'NSpid')?.split(/\s+/) ?? []
  if (numbers.length > 1) return 'runs in its own PID namespace'
  return isSetuid(process)
    ? 'its program is setuid: any user may start it, under any name and with any arguments'
    : undefined
}

/** Whether a process is root's, in process 1's mount namespace, and runs the program of this name that volctl itself would start. */
export function isRootsProgram(pid: number, name: string): boolean {
  try {
    using process = new PinnedProcess(pid)
    if (process.text('comm').trimEnd() !== name || whyNotRoots(process) !== undefined) return false
    if (process.link('ns/mnt') !== (namespaceOf(1, 'mnt') ?? namespaceOf('self', 'mnt'))) return false
    return isSameFile(process.path('exe'), commandPath(name))
  } catch {
    // Not shown to be: then it is a user.
    return false
  }
}

/**
 * While sudo(8) asks for a password, all its user ids are 0, and its name is that of the link that started it. The kernel has written down
 * at its start that it gave it more rights than its caller's (AT_SECURE); no file system is asked about its program (S36).
 */
function isSetuid(process: PinnedProcess): boolean {
  try {
    const words = Buffer.from(process.text('auxv'), 'latin1')
    for (let at = 0; at + 16 <= words.length; at += 16)
      if (words.readBigUInt64LE(at) === AT_SECURE) return words.readBigUInt64LE(at + 8) !== 0n
    // Of 32 bits, or none.
    return words.length > 0
  } catch {
    return false
  }
}

const AT_SECURE = 23n

/**
 * Why the mount namespace of a process may not be the host's, for messages; undefined: it is process 1's, or belongs to process
 * 1's user namespace, so that only the host's root can have made it, or mounted anything in it.
 */
export async function whyNotHostsMounts(process: PinnedProcess): Promise<string | undefined> {
  const theirs = process.link('ns/mnt')
  if (theirs === undefined) return undefined
  if (theirs === namespaceOf(1, 'mnt') || theirs === namespaceOf('self', 'mnt')) return undefined
  const user = namespaceOf(1, 'user') ?? namespaceOf('self', 'user')
  const owner = (await ownerOf(theirs)) ?? ownerByProcesses(theirs, user)
  return owner === user ? undefined : "its mount namespace was not created by this host's root"
}

/** By lsns(8), which asks the kernel (NS_GET_USERNS); undefined where lsns does not show it. */
async function ownerOf(mountNamespace: string): Promise<string | undefined> {
  const number = /\[(\d+)\]/.exec(mountNamespace)?.[1]
  const columns = ['--noheadings', '--raw', '--output', 'NS,ONS']
  const { stdout } = await askProgram('lsns', ['--type', 'mnt', ...columns], LSNS_DEADLINE_MS).catch(() => ({
    stdout: '',
  }))
  const owner = new RegExp(`^ *${number} +([1-9]\\d*) *$`, 'm').exec(stdout)?.[1]
  return owner && `user:[${owner}]`
}

/** Without lsns (BusyBox): true only if every process in the mount namespace is in the host's user namespace. */
function ownerByProcesses(mountNamespace: string, user: string | undefined): string | undefined {
  const inside = processIds().filter((pid) => namespaceOf(pid, 'mnt') === mountNamespace)
  const users = new Set(inside.map((pid) => namespaceOf(pid, 'user')))
  return users.size === 1 && users.has(user) ? user : undefined
}

// The gate for mount namespaces: none is entered (programs.ts) but by a descriptor of these.
//
// volctl runs again inside, with the dynamic loader and the libraries of that namespace: whoever made it decides what root
// runs. So it is only entered if its process is root's and the namespace is the host's, and through a
// descriptor that was opened while that process was pinned (S32).

/**
 * @param expected the namespace's link text when it was judged
 * @returns a descriptor, for enterNamespace
 * @throws VolctlError WrongNamespace
 */
export function openNamespace(process: PinnedProcess, expected: string): number {
  try {
    return closingOnError(openSync(process.path('ns/mnt'), constants.O_RDONLY), (fd) => {
      if (linkIfAny(`/proc/self/fd/${fd}`) !== expected) throw new Error('it is another namespace now')
      return fd
    })
  } catch (cause) {
    throw new VolctlError(said('WrongNamespace.gone', { pid: process.pid }), { cause, hint: 'Try again.' })
  }
}
