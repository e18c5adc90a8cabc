/**
 * What one run of volctl is given of the world around it. Nothing that a run notes outlives it: what is kept until its end is kept by
 * this object. Asked for where it is needed, since streams, environment and directory belong to no call in particular.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { readlinkSync } from 'node:fs'
import { basename, posix } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { isatty } from 'node:tty'
import { memoize } from '../base/collections.ts'
import { ifAny, isSameFile, kernelTextIfAny, parentIn } from './kernel.ts'

/** Standard output or standard error. */
export type OutputStream = Writable & {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}

export interface Io {
  /** A stream once it is asked for: to look at `process.stdin` begins to read from it. */
  readonly stdin: { readonly fd: number; readonly isTTY: boolean; readonly stream: Readable }
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  readonly env: NodeJS.ProcessEnv
  /** Where the signals come from. */
  readonly signals: Pick<NodeJS.EventEmitter, 'on' | 'off'>
  /** The working directory. */
  readonly directory: string
  /** The name by which volctl was called. */
  readonly name: string
}

/** Who started this run, if volctl runs again to enter another mount namespace. */
interface Caller {
  /** Of the volctl that the user started. */
  readonly pid: number
  /** How many times volctl has started itself again. */
  readonly depth: number
  /** Its working directory, as a path within that directory's file system. */
  readonly directory: string
}

/** One run: from its command line to its exit status. */
export interface Run {
  readonly io: Io
  /** The command line, without what only volctl itself adds. */
  readonly argv: readonly string[]
  readonly isPlugin?: boolean
  readonly caller?: Caller
  /** What volctl's own children are started from, where Node.js runs a script. */
  readonly script: string | undefined
  status: number
}

/** The process's own. */
export const PROCESS: Io = {
  stdin: {
    fd: 0,
    get isTTY() {
      return isatty(0)
    },
    get stream() {
      return process.stdin
    },
  },
  get stdout() {
    return process.stdout
  },
  get stderr() {
    return process.stderr
  },
  get env() {
    return process.env
  },
  signals: process,
  get directory() {
    return process.cwd()
  },
  name: basename(process.argv0),
}

/** Of volctl's own children, and of a part that is called alone. */
const NO_RUN: Run = {
  io: PROCESS,
  argv: [],
  script: process.argv[1],
  status: 0,
}

const runs = new AsyncLocalStorage<Run>()

export function thisRun(): Run {
  return runs.getStore() ?? NO_RUN
}

export function io(): Io {
  return thisRun().io
}

export async function within<T>(which: Run, work: () => Promise<T>): Promise<T> {
  return await runs.run(which, work)
}

/** What is worked out once a run, and is gone with it. */
export function perRun<T>(make: () => T): () => T {
  const of = memoize(make)
  return () => of(thisRun())
}

// The gate for the environment: no other file reads it.
//
// volctl runs as root with variables from a user's shell, sudo or cron. Before Node.js starts, the launcher drops all but
// those named here, so that variables of Node.js (NODE_OPTIONS, NODE_TLS_REJECT_UNAUTHORIZED), OpenSSL or the dynamic loader
// have no effect (S34). None of the variables kept weakens a safety rule: they show who called, which kubeconfig is meant,
// how to reach the API server, and what the terminal can display.

export type Environment = Io['env']

/** The variables of this run. As with kubectl, HTTPS_PROXY and NO_PROXY among them apply to an API server. */
export function environment(): Environment {
  return io().env
}

/** Directories in which volctl, and programs that it starts, look for programs; never the caller's PATH (S33). */
export const PROGRAM_DIRECTORIES: readonly string[] = [
  '/usr/bin',
  '/bin',
  '/usr/sbin',
  '/sbin',
  '/usr/local/bin',
  '/usr/local/sbin',
  // NixOS has no other.
  '/run/current-system/sw/bin',
]

/** The whole environment of programs that volctl starts: nothing of the caller's (S33). */
export const PROGRAM_ENVIRONMENT: Readonly<Record<string, string>> = {
  LC_ALL: 'C',
  TZ: 'UTC',
  PATH: PROGRAM_DIRECTORIES.join(':'),
}

// Who started this run, if volctl runs again to enter another mount namespace (S6): the volctl that the user started, which
// waits. An argument says so; it only counts if that volctl is the parent of this process, or the parent's parent, and they are
// the same program. A variable in the environment would not do, since anyone could have set it (S34).

const WORD = '--internal-reentered'
/** At most twice: into the host's namespace, and from there into the kubelet's. */
const MAX_DEPTH = 2

/** Undefined in a run that the user started. */
export function caller(): Caller | undefined {
  return thisRun().caller
}

/** The first argument for a run that enters another namespace. */
export function callerWord(): string {
  return `${WORD}=${caller()?.pid ?? process.pid}`
}

export function mayReenter(): boolean {
  return (caller()?.depth ?? 0) < MAX_DEPTH
}

/**
 * Removes that argument from the command line, if it is present and valid. An invalid one stays, as an unknown flag.
 *
 * @param argv what follows the script
 */
export function acceptCaller(argv: readonly string[]): { readonly args: readonly string[]; readonly caller?: Caller } {
  const [word = '', ...rest] = argv
  const pid = Number(new RegExp(`^${WORD}=([1-9]\\d{0,9})$`).exec(word)?.[1])
  const waiting = [process.ppid, parentIn(kernelTextIfAny(`/proc/${process.ppid}/status`) ?? '')]
  const depth = waiting.indexOf(pid) + 1
  if (depth === 0 || !waiting.slice(0, depth).every(isThisProgram)) return { args: argv }
  return { args: rest, caller: { pid, depth, directory: readlinkSync(`/proc/${pid}/cwd`) } }
}

/**
 * A path as the user meant it: in the working directory and the file system in which volctl was started, even if it now runs
 * in another mount namespace (S6).
 */
export function callerPath(path: string, by = caller()): string {
  if (by === undefined) return posix.resolve(io().directory, path)
  return `/proc/${by.pid}/root${posix.resolve(by.directory, path)}`
}

/** The user's text; a relative path (., .., ./a, ../a) becomes absolute, by the directory in which volctl was started. */
export function typedPath(text: string): string {
  return /^\.{1,2}(\/|$)/.test(text) ? posix.resolve(caller()?.directory ?? io().directory, text) : text
}

/** The text with paths as the user knows them. */
export function asTyped(text: string): string {
  const by = caller()
  return by === undefined ? text : text.replaceAll(`/proc/${by.pid}/root/`, '/')
}

function isThisProgram(pid: number): boolean {
  return ifAny(() => isSameFile(`/proc/${pid}/exe`, '/proc/self/exe')) ?? false
}
