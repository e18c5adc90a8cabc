/** Opens a journal, then another, below what is mounted meanwhile: a process, since a walk that goes in there never ends. */
import { readSync } from 'node:fs'
import { openJournal } from '../../../src/core/plan/documents/write-journal.ts'

const [directory = '', late = ''] = process.argv.slice(2)
openJournal(directory)[Symbol.dispose]()
process.stdout.write('ready\n')
readSync(0, Buffer.alloc(1))
try {
  openJournal(late)[Symbol.dispose]()
} catch (error) {
  process.stdout.write((error as Error).message)
}
