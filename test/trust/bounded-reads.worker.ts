/** Reads one large thing, and says how much memory that took at most, in KiB. */

import { EVERYTHING } from '../../src/core/journal/past-applies.ts'
import { readJournal } from '../../src/core/journal/read-journal.ts'
import { readMountTable } from '../../src/core/node/read-mountinfo.ts'

const [what, path = ''] = process.argv.slice(2)
const found =
  what === 'journal' ? readJournal(path, { ...EVERYTHING, last: 1 }).applies.length : readMountTable(path).size
console.log(JSON.stringify({ found, maxRss: process.resourceUsage().maxRSS }))
