/**
 * What apply was about to do, and the outcome: JSON lines, each on the disk before the next step (S14). One file, which is
 * only appended to, and rotated before an apply begins if it is large; a line cut off by a crash is ended by the next writer.
 * People rely on it for what happened, so it is in a place where nobody else may write (S33).
 */

import { randomUUID } from 'node:crypto'
import { closeSync, fstatSync, lstatSync, readSync, renameSync } from 'node:fs'
import type { Insecure } from '../../kube/api/resources.ts'
import { syncDirectory } from '../../linux/descriptors.ts'
import { troubleText } from '../../messages/disk-trouble.ts'
import { allowing, closing, closingOnError, type Hint, said, VolctlError } from '../../messages/findings.ts'
import { LAZY_FILE, type LazyRecord } from '../../node/read-lazily-detached.ts'
import { appendKept, makeTrustedDirectory, NotTrusted, nameIn, TRUST_HINT } from '../../trust/files.ts'
import type { Invoker } from '../../trust/invoker.ts'
import { writeThrough } from '../../trust/plain-files.ts'

export const JOURNAL_FILE = 'journal.jsonl'
/** A journal of this size is rotated to journal.jsonl.1, that one to .2, and so on; the oldest is deleted. */
const ROTATE_BYTES = 16 * 1024 * 1024
export const KEPT_FILES = 8

export type JournalEntry =
  | {
      readonly type: 'begin'
      /** Of an apply of a cluster: its server. */
      readonly node: string
      readonly rootDir: string
      readonly cluster?: { readonly server: string; readonly uid?: string }
      readonly bootID?: string
      readonly plan: string
      /** RFC 3339: when it was made. */
      readonly plannedAt: string
      readonly volctlVersion: string
      readonly by: Invoker
      /** The file that the plan was read from. */
      readonly planFile?: string
      readonly guards?: unknown
      /** How the API server was asked without being verified (S34). */
      readonly insecureApi?: Insecure
      /** The dead apply whose lock was taken over. */
      readonly tookOverFrom?: { readonly pid: number }
      /** Of an apply of a cluster: the holder of the lease that was taken over. */
      readonly leaseTakenOverFrom?: string
    }
  | { readonly type: 'intent'; readonly operations: readonly unknown[] }
  | { readonly type: 'stateFile'; readonly operation: string; readonly path: string; readonly content: string }
  | ({
      readonly type: 'lazy'
      readonly operation: string
    } & LazyRecord)
  | { readonly type: 'outcome'; readonly outcomes: readonly unknown[] }
  /** The kubelet is stopped next, for this apply (S35). */
  | { readonly type: 'stop'; readonly unit: string; readonly timer: string; readonly limitMs: number }
  | { readonly type: 'start'; readonly unit: string; readonly downMs: number; readonly runs: boolean }
  | { readonly type: 'end'; readonly exit: number; readonly interrupted: boolean }

export interface Journal extends Disposable {
  /** @throws VolctlError JournalFailed */
  write(entry: JournalEntry): void
}

interface JournalOptions {
  /** Where later plans look for what was detached lazily (S20); default: the same directory. */
  readonly lazyDirectory?: string
  /** Bytes at which the journal is rotated. */
  readonly rotateBytes?: number
}

/** @throws VolctlError JournalFailed: an apply that cannot be recorded does not begin */
export function openJournal(directory: string, options: JournalOptions = {}): Journal {
  const { lazyDirectory = directory, rotateBytes = ROTATE_BYTES } = options
  const path = `${directory}/${JOURNAL_FILE}`
  const run = randomUUID()
  let fd: number | undefined
  /** A failing disk may have written the beginning of a line. */
  let isTorn = false
  const append = (line: string): void => {
    if (fd === undefined) throw new Error('closed')
    const text = isTorn ? `\n${line}` : line
    isTorn = true
    writeThrough(fd, text)
    isTorn = false
  }
  guarded(path, () => {
    fd = openToAppend(directory, JOURNAL_FILE, (place) => rotate(nameIn(place, JOURNAL_FILE), rotateBytes))
    closingOnError(fd, (opened) => {
      const { size } = fstatSync(opened)
      if (size > 0 && lastByte(opened, size) !== '\n') append('\n')
    })
  })
  return {
    write: (entry) => {
      guarded(path, () => append(`${JSON.stringify({ time: new Date().toISOString(), run, ...entry })}\n`))
      if (entry.type === 'lazy') rememberLazy(lazyDirectory, entry)
    },
    [Symbol.dispose]: () => {
      if (fd !== undefined) closeSync(fd)
      fd = undefined
    },
  }
}

function guarded<T>(path: string, work: () => T, hint?: Hint): T {
  try {
    return work()
  } catch (error) {
    throw new VolctlError(said('JournalFailed.notWritten', { path, trouble: troubleText(error) }), {
      cause: error,
      hint: error instanceof NotTrusted ? TRUST_HINT : hint,
    })
  }
}

function rotate(path: string, rotateBytes: number): void {
  const size = lstatSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size < rotateBytes) return
  for (let number = KEPT_FILES - 1; number >= 1; number--) renameIfThere(`${path}.${number}`, `${path}.${number + 1}`)
  renameIfThere(path, `${path}.1`)
}

function renameIfThere(from: string, to: string): void {
  allowing(['ENOENT'], undefined, () => renameSync(from, to))
}

function lastByte(fd: number, size: number): string {
  const byte = Buffer.alloc(1)
  readSync(fd, byte, 0, 1, size - 1)
  return byte.toString()
}

// The record of file systems that were detached lazily and may still be alive: no mount table shows them (S20). A small file
// beside the journal, since every plan reads it; like the journal, written to the disk before the umount, in a place where
// nobody else may write (S33).

/** @throws VolctlError JournalFailed */
export function rememberLazy(directory: string, record: LazyRecord): void {
  const hint = 'Apply must record a lazy detach first: free space on the disk, or make the path writable.'
  // A line that a crash cut off ends here.
  const write = (fd: number): void => writeThrough(fd, `\n${JSON.stringify(record)}\n`)
  guarded(`${directory}/${LAZY_FILE}`, () => closing(openToAppend(directory, LAZY_FILE), write), hint)
}

// What both have.

/**
 * One of volctl's own files, made where it is missing, as is its directory.
 *
 * @param before what comes before it is opened; has the directory
 * @throws NotTrusted, NotAFile, or whatever the file system says
 */
function openToAppend(directory: string, name: string, before?: (place: number) => void): number {
  return closing(makeTrustedDirectory(directory, 0o700), (place) => {
    before?.(place)
    return closingOnError(appendKept(place, name), (fd) => {
      syncDirectory(nameIn(place, '.'))
      return fd
    })
  })
}
