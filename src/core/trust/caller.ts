/**
 * Who started this run, where volctl runs a second time because it had to enter another mount namespace (S6): the volctl
 * that was typed, which waits. It says so by a word on the command line, and is believed only as the parent of this process
 * and of the same program: a variable that anybody left in the environment switches nothing (S34).
 */
import { readlinkSync, statSync } from 'node:fs'
import { posix } from 'node:path'
import { kernelText } from './kernel.ts'

const WORD = '--internal-reentered'
/** Into the host, from there into the kubelet's namespace. */
const MAX_DEPTH = 2

export interface Caller {
  /** Of the volctl that was typed. */
  readonly pid: number
  /** How often volctl has started itself anew. */
  readonly depth: number
  /** Its working directory, as a path of its own file system. */
  readonly directory: string
}

let current: Caller | undefined

/** Undefined in a run that was typed. */
export function caller(): Caller | undefined {
  return current
}

/** What a run that enters another namespace is given before everything else. */
export function callerWord(): string {
  return `${WORD}=${(current?.depth ?? 0) + 1}:${current?.pid ?? process.pid}`
}

export function mayReenter(): boolean {
  return (current?.depth ?? 0) < MAX_DEPTH
}

/**
 * Takes the word from the command line, if it is there and true; else nothing is taken, and it is an unknown flag.
 *
 * @param argv what follows the script
 */
export function acceptCaller(argv: readonly string[]): readonly string[] {
  const [word = '', ...rest] = argv
  const [, depth, pid] = new RegExp(`^${WORD}=([12]):(\\d{1,10})$`).exec(word) ?? []
  if (depth === undefined || pid === undefined) return argv
  const waiting = depth === '1' ? [process.ppid] : [process.ppid, parentOf(process.ppid)]
  if (!waiting.includes(Number(pid)) || !waiting.every(isThisProgram)) return argv
  current = { pid: Number(pid), depth: Number(depth), directory: readlinkSync(`/proc/${pid}/cwd`) }
  return rest
}

/**
 * A path as the person meant it: of the working directory and the file system that volctl was started in, though it may
 * stand in another mount namespace by now (S6).
 */
export function callerPath(path: string, by = current): string {
  if (by === undefined) return posix.resolve(path)
  return `/proc/${by.pid}/root${posix.resolve(by.directory, path)}`
}

/** What was typed, a relative path (., .., ./a, ../a) as the absolute one of the directory that volctl was started in. */
export function typedPath(text: string, by = current): string {
  return /^\.{1,2}(\/|$)/.test(text) ? posix.resolve(by?.directory ?? process.cwd(), text) : text
}

/** A text in which paths are as the person knows them. */
export function asTyped(text: string, by = current): string {
  return by === undefined ? text : text.replaceAll(`/proc/${by.pid}/root/`, '/')
}

function isThisProgram(pid: number): boolean {
  try {
    const [theirs, ours] = [`/proc/${pid}/exe`, '/proc/self/exe'].map((link) => statSync(link))
    return theirs?.dev === ours?.dev && theirs?.ino === ours?.ino
  } catch {
    return false
  }
}

function parentOf(pid: number): number {
  try {
    return Number(/^PPid:\s+(\d+)$/m.exec(kernelText(`/proc/${pid}/status`))?.[1] ?? 0)
  } catch {
    return 0
  }
}
