/**
 * Where a person wants to have what volctl writes (`snapshot -o`): a file, or a descriptor that this process was started with. `/dev/stdout` and bash's `>(gzip >x)`, which is /dev/fd/63, are named as files and are descriptors:
 * they are written to as such, and nothing is opened by a name that somebody else could have put there (S33).
 */
import { fstatSync, writeSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { isatty } from 'node:tty'
import { errnoOf } from '../base/errors.ts'
import { terminalSafeJson } from '../base/terminal-safe.ts'
import { ownDescriptor } from '../linux/paths.ts'
import { snapshotNotWritten } from '../plan/documents/snapshot-file.ts'
import { callerPath } from '../trust/caller.ts'
import type { Output } from './output.ts'

export type Destination =
  | { readonly kind: 'descriptor'; readonly fd: number }
  /** /dev/null: it is thrown away. */
  | { readonly kind: 'nowhere' }
  | { readonly kind: 'file'; readonly path: string }

/** @param text as it was typed @throws VolctlError for a descriptor that cannot be written to, before anything has been looked at */
export function destinationOf(text: string): Destination {
  const fd = ownDescriptor(text, 1)
  if (fd !== undefined) {
    requireWritable(text, fd)
    return { kind: 'descriptor', fd }
  }
  return text === '/dev/null' ? { kind: 'nowhere' } : { kind: 'file', path: callerPath(text) }
}

function requireWritable(name: string, fd: number): void {
  try {
    const stats = fstatSync(fd)
    if (!stats.isDirectory() && !stats.isBlockDevice()) return
    throw new Error(`descriptor ${fd} is a ${stats.isDirectory() ? 'directory' : 'block device'}`)
  } catch (error) {
    const isClosed = errnoOf(error) === 'EBADF'
    throw snapshotNotWritten(name, isClosed ? new Error(`descriptor ${fd} is not open here`, { cause: error }) : error)
  }
}

const FULL_PIPE_MS = 5

/** @throws what the system says */
export async function writeToDescriptor(fd: number, text: string, output: Output): Promise<void> {
  const shown = isatty(fd) ? terminalSafeJson(text) : text
  if (fd === 1) {
    output.write(shown)
    await output.flush()
    return
  }
  const bytes = Buffer.from(shown)
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(fd, bytes, done)
    } catch (error) {
      // Another process that shares the descriptor may have made it non-blocking.
      if (errnoOf(error) !== 'EAGAIN') throw error
      await setTimeout(FULL_PIPE_MS)
    }
  }
}
