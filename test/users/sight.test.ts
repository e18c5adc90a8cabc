/** Whether /proc shows every process, by its first one, its options and what volctl may do. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import { hiddenProcesses } from '../../src/core/users/ask-processes.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

const PTRACE = '0000000000080000'
const NONE = '0000000000000000'

it.each([
  { name: 'all that there are', options: 'rw', hides: false },
  { name: 'not the first', first: false, options: 'rw', hides: true },
  { name: 'those that may be seen', options: 'rw,hidepid=invisible', hides: true },
  { name: 'those that may be traced', options: 'rw,hidepid=4', hides: true },
  { name: 'the same, to whom may trace all', options: 'rw,hidepid=2', capabilities: PTRACE, hides: false },
  { name: 'all, and nothing of them', options: 'rw,hidepid=noaccess', hides: false },
])('/proc shows $name', ({ first = true, options, capabilities = NONE, hides }) => {
  const proc = temporaryDirectory()
  for (const pid of ['self', '7', ...(first ? ['1'] : [])]) mkdirSync(`${proc}/${pid}`)
  writeFileSync(`${proc}/self/status`, `Name:\tnode\nCapEff:\t${capabilities}\n`)
  const table = parseMountinfo(`1 1 254:0 / / rw - ext4 /dev/vda rw\n2 1 0:5 / /proc rw - proc proc ${options}\n`)
  expect(hiddenProcesses(table, proc)).toEqual(
    hides ? [{ text: expect.stringContaining('hidepid'), hint: expect.stringContaining('CAP_SYS_PTRACE') }] : [],
  )
})
