/**
 * What apply was about to do, and what came of it: JSON lines, each on the disk before the next step (S14).
 * One file, only ever appended to; a line cut off by a crash is closed by the next writer.
 */
import { randomUUID } from 'node:crypto'
import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
import { VolctlError } from '../errors.ts'
import { ensureDirectory } from './ensure-directory.ts'
import { type LazyRecord, rememberLazy } from './lazy-memory.ts'

export const JOURNAL_FILE = 'journal.jsonl'

export type JournalEntry =
  | { readonly type: 'begin'; readonly node: string; readonly rootDir: string; readonly guards?: unknown }
  | { readonly type: 'intent'; readonly operations: readonly unknown[] }
  | { readonly type: 'stateFile'; readonly operation: string; readonly path: string; readonly content: string }
  | ({
      readonly type: 'lazy'
      readonly operation: string
    } & LazyRecord)
  | { readonly type: 'outcome'; readonly outcomes: readonly unknown[] }
  | { readonly type: 'end'; readonly exit: number; readonly interrupted: boolean }

export interface Journal extends Disposable {
  /** @throws VolctlError JournalFailed */
  write(entry: JournalEntry): void
}

/** @throws VolctlError JournalFailed: an apply that cannot be told about does not begin */
export function openJournal(directory: string): Journal {
  const path = `${directory}/${JOURNAL_FILE}`
  const run = randomUUID()
  let fd: number | undefined
  const append = (line: string): void => {
    if (fd === undefined) throw new Error('closed')
    const bytes = Buffer.from(line)
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done)
    fsyncSync(fd)
  }
  const guarded = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      throw new VolctlError('JournalFailed', `the journal ${path} cannot be written: ${(error as Error).message}`, {
        cause: error,
        hint: 'Apply does nothing that it cannot write down first: free the disk or the path.',
      })
    }
  }
  guarded(() => {
    ensureDirectory(directory, 0o700)
    const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants
    fd = openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600)
    const { size, isFile } = describe(fd)
    if (!isFile) throw new Error('it is not a regular file')
    if (size > 0 && lastByte(fd, size) !== '\n') append('\n')
  })
  return {
    write: (entry) =>
      guarded(() => {
        append(`${JSON.stringify({ time: new Date().toISOString(), run, ...entry })}\n`)
        if (entry.type === 'lazy') rememberLazy(directory, entry)
      }),
    [Symbol.dispose]() {
      if (fd !== undefined) closeSync(fd)
      fd = undefined
    },
  }
}

function describe(fd: number): { size: number; isFile: boolean } {
  const entry = fstatSync(fd)
  return { size: entry.size, isFile: entry.isFile() }
}

function lastByte(fd: number, size: number): string {
  const byte = Buffer.alloc(1)
  readSync(fd, byte, 0, 1, size - 1)
  return byte.toString()
}
