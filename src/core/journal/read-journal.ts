import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { JOURNAL_FILE, KEPT_FILES } from '../apply/journal.ts'
import { errnoOf, errorMessage, isMissing, VolctlError } from '../errors.ts'
import { type PastApplies, pastApplies } from './past-applies.ts'

/** An apply of 100,000 operations makes one of 200 MB, and V8 ends at 512 MB of text. */
const MAX_BYTES = 500 * 1024 * 1024

/**
 * Every apply that the journal in a directory tells of, oldest first, with those that were put aside; none where there
 * is no journal.
 *
 * @throws VolctlError JournalUnreadable
 */
export function readJournal(directory: string): PastApplies {
  const names = [
    ...Array.from({ length: KEPT_FILES }, (_, index) => `${JOURNAL_FILE}.${KEPT_FILES - index}`),
    JOURNAL_FILE,
  ]
  return pastApplies(
    names.flatMap((name) => {
      const text = readPart(`${directory}/${name}`)
      return text === undefined ? [] : [{ name, text }]
    }),
  )
}

function readPart(path: string): string | undefined {
  let fd: number | undefined
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const stat = fstatSync(fd)
    if (!stat.isFile()) throw new Error('it is not a plain file')
    if (stat.size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`)
    return readFileSync(fd, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    const denied = errnoOf(error) === 'EACCES'
    throw new VolctlError(
      'JournalUnreadable',
      `the journal ${path} cannot be read: ${denied ? 'permission denied' : errorMessage(error)}`,
      { cause: error, hint: denied ? 'It is for root alone: use sudo.' : 'Name its directory with --journal.' },
    )
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}
