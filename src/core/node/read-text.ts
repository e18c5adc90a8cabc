/** Readers for /proc, /sys and /etc, where what is not there or not readable is an answer. Never for a path that may hang. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** A small file's text, trimmed. */
export function readTextIfAny(path: string): string | undefined {
  return ifAny(() => readFileSync(path, 'utf8').trim())
}

/** Names in a directory. */
export function listIfAny(directory: string): readonly string[] {
  return ifAny(() => readdirSync(directory)) ?? []
}

/** What a link says. */
export function linkIfAny(path: string): string | undefined {
  return ifAny(() => readlinkSync(path))
}

/** Which namespace a process is in: `mnt:[4026531841]`. */
export function namespaceOf(pid: number | 'self', kind: 'mnt' | 'pid', proc = '/proc'): string | undefined {
  return linkIfAny(`${proc}/${pid}/ns/${kind}`)
}

function ifAny<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
