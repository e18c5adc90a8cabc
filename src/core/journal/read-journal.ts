/**
 * Reads the journal in a directory. It is shown as what happened, so only root may have written it: a file that somebody else
 * could have written is not read (S33). The journal is read line by line, and only what was asked for is kept (S34).
 */
import { closeSync } from 'node:fs'
import { errnoOf, VolctlError } from '../errors/errors.ts'
import { unreadText } from '../files/disk-trouble.ts'
import { NotTrusted, openKept, openTrustedDirectory, requireOneName, TRUST_HINT } from '../trust/files.ts'
import { TooLarge } from '../trust/plain-files.ts'
import { EVERYTHING, type JournalPart, type PastApplies, pastApplies, TooMuch, type Wanted } from './past-applies.ts'
import { readLines } from './read-lines.ts'
import { JOURNAL_FILE, KEPT_FILES } from './write-journal.ts'

/** All operations of a batch are one line: 5000 operations of 1500 characters each. */
const MAX_LINE_BYTES = 32 * 1024 * 1024
/** Of one file: an apply of 100,000 operations makes one of 200 MB. */
const MAX_BYTES = 1024 * 1024 * 1024

/**
 * Every apply that the journal in a directory records, oldest first, rotated files included; none where there is no journal.
 *
 * @throws VolctlError FileUnreadable
 */
export function readJournal(directory: string, wanted: Wanted = EVERYTHING): PastApplies {
  let path = directory
  let place: number | undefined
  try {
    place = openTrustedDirectory(directory)
    return pastApplies(
      partsIn(place, (name) => {
        path = `${directory}/${name}`
      }),
      wanted,
    )
  } catch (error) {
    // Only the directory is missing; for the files themselves see partsIn.
    if (errnoOf(error) === 'ENOENT') return { applies: [], damaged: [] }
    if (error instanceof TooMuch) throw tooMuch(directory, error)
    throw errnoOf(error) === 'EACCES' ? denied(directory, error) : unreadable(path, error)
  } finally {
    if (place !== undefined) closeSync(place)
  }
}

/** Oldest first; each is open only while its lines are read. */
function* partsIn(directory: number, onOpen: (name: string) => void): Generator<JournalPart> {
  const aside = Array.from({ length: KEPT_FILES }, (_, index) => `${JOURNAL_FILE}.${KEPT_FILES - index}`)
  for (const name of [...aside, JOURNAL_FILE]) {
    onOpen(name)
    const file = openIfThere(directory, name)
    if (file === undefined) continue
    try {
      requireOneName(file.stats)
      if (file.stats.size > MAX_BYTES) throw new TooLarge(`is larger than ${MAX_BYTES} bytes`)
      yield { name, lines: readLines(file.fd, MAX_LINE_BYTES) }
    } finally {
      closeSync(file.fd)
    }
  }
}

function openIfThere(directory: number, name: string): ReturnType<typeof openKept> | undefined {
  try {
    return openKept(directory, name)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}

function unreadable(path: string, error: unknown): VolctlError {
  return new VolctlError('FileUnreadable', `the journal ${path} cannot be read: ${unreadText(error)}`, {
    cause: error,
    hint: error instanceof NotTrusted ? TRUST_HINT : 'Give the journal directory with --journal.',
  })
}

function denied(directory: string, cause: unknown): VolctlError {
  return new VolctlError('FileUnreadable', `the journal in ${directory} cannot be read: permission denied`, {
    cause,
    hint: 'Only root can read the journal: sudo volctl journal',
  })
}

function tooMuch(directory: string, cause: Error): VolctlError {
  return new VolctlError('FileUnreadable', `the journal in ${directory} has more than volctl can show at once`, {
    cause,
    hint: 'Limit the output: --last 1, --plan ID or --operation ID; -o table and -o json need the least memory.',
  })
}
