/** What processes use: read by a child from real processes, and what is made of one that hangs, floods or ends. */
import { readFileSync } from 'node:fs'
import { expect, it, vi } from 'vitest'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import { SCAN_MS } from '../../src/core/linux/scan-limits.ts'
import { askProcesses, type ProcessReader } from '../../src/core/users/ask-processes.ts'
import type { Uses } from '../../src/core/users/uses.ts'
import { PROCESS_READER } from '../helpers/process-reader/command.ts'
import { holdByShell } from '../privileged/holder.ts'

const NULL = 'char 1:3'
const table = parseMountinfo(readFileSync('/proc/self/mountinfo'))
const reader: ProcessReader = { command: PROCESS_READER, deadlineMs: 60_000 }

const devices = (given = reader): Promise<Uses> => askProcesses({ table, others: [], devices: [NULL] }, given)

it('an open device is one by its number, and a place of it is none', async () => {
  await using held = await holdByShell('exec 9</dev/null')
  const found = (await devices()).openers(new Set([NULL])).find(({ pid }) => pid === held.pid)
  expect(found).toEqual({ pid: expect.any(Number), process: 'sh', dev: NULL, how: 'open' })
})

it('of two mounts with one number the newer counts: tables are read one after another, and it may have been free meanwhile', async () => {
  await using held = await holdByShell('exec 9</dev/null')
  const id = Number(/^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/${held.pid}/fdinfo/9`, 'utf8'))?.[1])
  const before = parseMountinfo(`${id} 1 0:4095 / /was rw - nfs server:/was rw\n${table.text}`)
  const found = (await askProcesses({ table: before, others: [], devices: [NULL] }, reader)).openers(new Set([NULL]))
  expect(found.filter(({ pid }) => pid === held.pid)).toHaveLength(1)
})

/** A reader that goes through the jobs, and at each process but the first does this. */
function stub(does: string): ProcessReader {
  const script = `let text = ''
process.stdin.on('data', (piece) => void (text += piece))
process.stdin.on('end', () => {
  const { pids, from } = JSON.parse(text)
  const say = (line) => require('node:fs').writeSync(1, line + '\\n')
  say('')
  for (let job = from; job < pids.length * 4; job++) {
    if (job % pids.length !== 0) { ${does} }
    say(JSON.stringify({ uses: [] }))
  }
})`
  return { ...reader, command: [process.execPath, '-e', script] }
}

it.each([
  { name: 'hangs', does: 'for (;;);', says: /\(pid \d+\) use could not be read in time/, pids: 3 },
  { name: 'ends', does: 'process.exit(1)', says: /^what processes use was not read/, pids: 0 },
  { name: 'floods', does: "say('x'.repeat(17e6))", says: /\(pid \d+\) uses? could not be read in time/ },
])('a reader that $name has not seen the rest: it may be in use (S3)', async ({ does, says, pids }) => {
  // Three seconds without a word: half of one is enough where nothing comes, and none where it ends before.
  const real = globalThis.setTimeout
  using _ = vi
    .spyOn(globalThis, 'setTimeout')
    .mockImplementation(((call: () => void, ms?: number) =>
      real(call, ms === SCAN_MS.silent ? 500 : ms)) as typeof setTimeout)
  const { unseen } = await devices({ ...stub(does), deadlineMs: 30_000 })
  expect(unseen[0]?.text).toMatch(says)
  if (pids !== undefined) expect(`${unseen[0]?.hint}`.match(/\d+/g) ?? []).toHaveLength(pids)
  if (pids !== 0) expect(unseen[1]?.text).toMatch(/^what \d+ more processes use was not read/)
})

it('a look that is interrupted ends at once, and has not seen the rest', async () => {
  const stop = new AbortController()
  const begun = performance.now()
  setImmediate(() => stop.abort())
  const { unseen } = await devices({ ...stub('for (;;);'), signal: stop.signal })
  expect(performance.now() - begun).toBeLessThan(2500)
  // S37: nobody is told to end what was not looked at.
  expect(unseen).toEqual([{ text: 'the look at processes was interrupted', hint: 'Plan again.' }])
})
