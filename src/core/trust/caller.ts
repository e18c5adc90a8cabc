/**
 * Who started this run, if volctl runs again to enter another mount namespace (S6): the volctl that the user started, which
 * waits. An argument says so; it only counts if that volctl is the parent of this process and the same program. A variable in
 * the environment would not do, since anyone could have set it (S34).
 */
import { readlinkSync } from 'node:fs'
import { posix } from 'node:path'
import { ifAny, isSameFile, kernelTextIfAny, parentIn } from './kernel.ts'
import { type Caller, io, thisRun } from './run.ts'

const WORD = '--internal-reentered'
/** At most twice: into the host's namespace, and from there into the kubelet's. */
const MAX_DEPTH = 2

/** Undefined in a run that the user started. */
export function caller(): Caller | undefined {
  return thisRun().caller
}

/** The first argument for a run that enters another namespace. */
export function callerWord(): string {
  const { depth = 0, pid = process.pid } = caller() ?? {}
  return `${WORD}=${depth + 1}:${pid}`
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
  const [, depth, pid] = new RegExp(`^${WORD}=([12]):(\\d{1,10})$`).exec(word) ?? []
  if (depth === undefined || pid === undefined) return { args: argv }
  const waiting =
    depth === '1' ? [process.ppid] : [process.ppid, parentIn(kernelTextIfAny(`/proc/${process.ppid}/status`) ?? '')]
  if (!waiting.includes(Number(pid)) || !waiting.every(isThisProgram)) return { args: argv }
  const directory = readlinkSync(`/proc/${pid}/cwd`)
  return { args: rest, caller: { pid: Number(pid), depth: Number(depth), directory } }
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
