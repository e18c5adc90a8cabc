/**
 * What the kernel says of itself: /proc and /sys. Nobody else can write there, and no read waits. What is not there or
 * may not be read is an answer. Never for a path on a disk: those are files.ts' and plain-files.ts'.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** A small file's text, trimmed. */
export function kernelTextIfAny(path: string): string | undefined {
  return ifAny(() => readFileSync(path, 'utf8').trim())
}

/** A file's text as it is. @throws what the file system says */
export function kernelText(path: string, encoding: 'utf8' | 'latin1' = 'utf8'): string {
  return readFileSync(path, encoding)
}

/** A file's bytes. @throws what the file system says */
export function kernelBytes(path: string): Buffer {
  return readFileSync(path)
}

/** Names in a directory. */
export function listIfAny(directory: string): readonly string[] {
  return ifAny(() => readdirSync(directory)) ?? []
}

/** What a link says. */
export function linkIfAny(path: string): string | undefined {
  return ifAny(() => readlinkSync(path))
}

export type Namespace = 'mnt' | 'pid' | 'user'

/** Which namespace a process is in: `mnt:[4026531841]`. */
export function namespaceOf(pid: number | 'self', kind: Namespace, proc = '/proc'): string | undefined {
  return linkIfAny(`${proc}/${pid}/ns/${kind}`)
}

function ifAny<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
