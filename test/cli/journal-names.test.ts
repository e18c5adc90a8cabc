/** `volctl journal -o name`, and what --plan makes of such a name. */
import { beforeAll, expect, it } from 'vitest'
import { JOURNAL_FILE, openJournal } from '../../src/core/journal/write-journal.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { volctl } from './run-volctl.ts'

const directory = temporaryDirectory()
beforeAll(() => {
  for (const plan of ['aaaa11', 'bbbb22', 'aaaa11']) {
    using journal = openJournal(directory)
    const by = { pid: 1, uid: 0, user: 'root' }
    const plannedAt = '2026-11-21T12:00:00Z'
    journal.write({ type: 'begin', node: 'n', rootDir: '/r', plan, plannedAt, volctlVersion: '0', by })
    journal.write({ type: 'end', exit: 0, interrupted: false })
  }
})

it(`names each plan in ${JOURNAL_FILE} once`, async () =>
  expect(await volctl(['journal', '--journal', directory, '-o', 'name'])).toEqual({
    status: 0,
    stdout: 'plan/aaaa11\nplan/bbbb22\n',
    stderr: '',
  }))

it.each(['plan/bbbb22', 'bbbb'])('--plan %s', async (plan) => {
  const { stdout } = await volctl(['journal', '--journal', directory, '--plan', plan, '-o', 'json'])
  expect(JSON.parse(stdout).applies).toMatchObject([{ plan: 'bbbb22' }])
})
