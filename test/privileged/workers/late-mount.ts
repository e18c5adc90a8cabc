/** Opens a journal, then another, below what is mounted in between: a process, since a walk that goes in there never ends. */
import { execFileSync } from 'node:child_process'
import { openJournal } from '../../../src/core/apply/journal/write-journal.ts'

const [fuse = '', directory = '', late = ''] = process.argv.slice(2)
openJournal(directory)[Symbol.dispose]()
// Within the second for which a table counts; without a look at either.
execFileSync('mount', ['-c', '--bind', fuse, late])
try {
  openJournal(`${late}/journal`)[Symbol.dispose]()
} catch (error) {
  process.stdout.write((error as Error).message)
}
