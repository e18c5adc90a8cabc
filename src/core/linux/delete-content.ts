/**
 * A walk down a directory tree, each level a directory that is held by a descriptor; and the deletion that it serves (S12).
 *
 * A path that was checked may have been swapped since, a descriptor cannot: entries are named through the descriptor of their
 * directory. The levels are a list, not recursive calls, so that a deep tree cannot exhaust the stack.
 */

import { closeSync, type Dirent, lstatSync, rmdirSync, unlinkSync } from 'node:fs'
import { posix } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { advice, commandLine } from '../messages/command.ts'
import { diskFailure } from '../messages/disk-trouble.ts'
import { closingOnError, errnoOf, StepFailed, StepInterrupted, said, saidOfAny } from '../messages/findings.ts'
import {
  Entries,
  entryPath,
  InOtherMount,
  nameOf,
  type OpenDirectory,
  openBelow,
  openDirectory,
  openParent,
} from './descriptors.ts'

interface Level {
  directory: OpenDirectory | undefined
  readonly identity: string
  /** Entries that are not read yet. */
  readonly rest: Entries
  /** Entries that are read and not examined yet. */
  names: Dirent[]
  /** Its name in the level above. */
  readonly name: Buffer
}

export interface Entry {
  readonly directory: OpenDirectory
  readonly name: Buffer
  /** Its path through the descriptor of its directory. */
  readonly at: Buffer
  /** Its path, for messages. */
  readonly where: () => string
}

export interface Visits {
  /** Called first, with the directory itself. @returns whether to walk */
  readonly begin: (top: OpenDirectory, isEmpty: boolean) => boolean | Promise<boolean>
  /** @param enter goes down into a directory, whose descriptor it closes. @throws errors of getdents(2) */
  readonly visit: (entry: Entry, enter: (below: OpenDirectory) => void) => void
  /** Called after what is in a directory, with its own entry in the one above; undefined: the walk began there. */
  readonly leave?: (left: OpenDirectory, entry: Entry | undefined) => void
  readonly signal?: AbortSignal
  /** What is thrown once the signal is aborted. */
  readonly interrupted: () => StepInterrupted
}

const ENTRIES_BETWEEN_BREATHS = 500
/** Descriptors that are kept open. Levels further up are opened again through `..`, and compared. */
const KEPT_OPEN = 200
/** Names that are read of a directory at a time. */
const MOST_NAMES = 10_000

/**
 * @param path absolute, without links on the way
 * @param mountId the mount that the directory must be in
 * @throws StepFailed ForeignMount, Swapped, also where a directory above is not the one that the walk came from; errors of open(2)
 * and getdents(2); what is thrown by what is called
 */
export async function walkDown(path: string, mountId: number, visits: Visits): Promise<void> {
  const { begin, visit, leave, signal, interrupted } = visits
  const levels: Level[] = []
  const enter = (directory: OpenDirectory, name: Buffer): void => {
    levels.push({
      directory,
      identity: directory.identity,
      rest: closingOnError(directory.fd, (fd) => new Entries(fd)),
      names: [],
      name,
    })
    const above = levels.at(-1 - KEPT_OPEN)
    // The first level stays open: the walk is anchored there.
    if (above?.directory !== undefined && above !== levels[0]) {
      closeSync(above.directory.fd)
      above.directory = undefined
    }
  }
  const entryOf = (directory: OpenDirectory, name: Buffer): Entry => ({
    directory,
    name,
    at: entryPath(directory, name),
    where: () => [path, ...[...levels.slice(1), { name }].map((each) => each.name.toString())].join('/'),
  })
  try {
    const top = openDirectory(path, mountId)
    enter(top, Buffer.from(path))
    let more = await begin(top, nextOf(levels[0]) === undefined)
    for (let count = 1; more; count++) {
      if (count % ENTRIES_BETWEEN_BREATHS === 0) await nextTurn()
      if (signal?.aborted) throw interrupted()
      const level = levels.at(-1)
      if (level?.directory === undefined) return
      const next = nextOf(level)
      if (next !== undefined) {
        level.names.pop()
        const name = nameOf(next)
        visit(entryOf(level.directory, name), (below) => enter(below, name))
        continue
      }
      const above = levels.at(-2)
      if (above !== undefined) above.directory ??= openParent(level.directory, above.identity)
      levels.pop()
      try {
        leave?.(level.directory, above?.directory && entryOf(above.directory, level.name))
      } finally {
        close(level)
      }
      more = above !== undefined
    }
  } finally {
    for (const level of levels) close(level)
  }
}

/** The next entry; undefined: all are examined. @throws errors of getdents(2) */
function nextOf(level: Level | undefined): Dirent | undefined {
  if (level?.names.length === 0) level.names = level.rest.upTo(MOST_NAMES)
  return level?.names.at(-1)
}

function close({ rest, directory }: Level): void {
  rest[Symbol.dispose]()
  if (directory !== undefined) closeSync(directory.fd)
}

// Deletes what is below a directory, and never anything else (S12).
//
// Every directory is opened without following links, and must be in the mount where the walk began, by the mount id of its
// descriptor. Comparing the device is not enough: a bind mount of the same file system has the same device.

export interface Deleted {
  readonly files: number
  readonly bytes: number
}

export interface DeleteContentOptions {
  /** Id of the mount that the directory must be in. */
  readonly mountId: number
  /** Called once before the first deletion, and not for an empty directory; throws to refuse. */
  readonly beforeFirst?: () => void | Promise<void>
  /** Only empty directories go: nobody has agreed to the loss of a file. */
  readonly directoriesOnly?: boolean
  readonly signal?: AbortSignal
}

export async function deleteContent(
  path: string,
  { mountId, beforeFirst, directoriesOnly, signal }: DeleteContentOptions,
): Promise<Deleted> {
  const deleted = { files: 0, bytes: 0 }
  /** An entry may change its type at any time; each attempt goes by its type at that moment. */
  const visit: Visits['visit'] = ({ directory, name, at, where }, enter) => {
    for (let attempt = 0; attempt < 3; attempt++) {
      try {
        const entry = lstatSync(at)
        if (entry.isDirectory()) {
          enter(openBelow(directory, name))
          return
        }
        if (directoriesOnly === true) throw new StepFailed(said('UnexpectedFile.kept', { path: where() }))
        unlinkSync(at)
        deleted.files += 1
        deleted.bytes += entry.size
        return
      } catch (error) {
        const code = errnoOf(error)
        if (code === 'ENOENT') return
        if (code !== 'EISDIR' && code !== 'ENOTDIR' && code !== 'ELOOP') throw notDeleted(where(), error)
      }
    }
    throw new StepFailed(said('Swapped.changing', { path: where() }))
  }
  await walkDown(path, mountId, {
    begin: async (_, isEmpty) => {
      if (!isEmpty) await beforeFirst?.()
      return !isEmpty
    },
    visit,
    leave: (_, entry) => entry && removeEmpty(entry),
    signal,
    interrupted: () => new StepInterrupted(said('Interrupted.walk', { path, count: deleted.files })),
  })
  return deleted
}

function removeEmpty({ at, where }: Entry): void {
  try {
    rmdirSync(at)
  } catch (error) {
    const code = errnoOf(error)
    if (code === 'ENOENT') return
    // Replaced by a link, or filled again: the next plan judges what is there now.
    const isOther = code === 'ENOTDIR' || code === 'ENOTEMPTY' || code === 'EEXIST'
    throw isOther ? diskFailure(where(), 'deleted', error, 'Swapped') : notDeleted(where(), error)
  }
}

function notDeleted(path: string, cause: unknown): StepFailed {
  if (cause instanceof InOtherMount || errnoOf(cause) === 'EBUSY') {
    return new StepFailed(said('ForeignMount.deletesNone', { path }), { cause })
  }
  if (cause instanceof StepFailed) return cause
  // Nothing else keeps root from it: swap files are users, which were looked for.
  if (errnoOf(cause) === 'EPERM') {
    const words = advice`${commandLine('lsattr', '-d', path, posix.dirname(path))}; if nobody needs it, take that off (chattr -ia)`
    const why = ': it, or its directory, is immutable or append-only (EPERM)'
    return new StepFailed(saidOfAny('WriteFailed', 'notDone', { what: path, done: 'deleted', why }), {
      cause,
      hint: advice`See which: ${words}, then plan again.`,
    })
  }
  return diskFailure(path, 'deleted', cause)
}
