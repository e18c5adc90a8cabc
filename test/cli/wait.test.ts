/** What the command line of `volctl wait` refuses, before anything is read. */
import { expect, it } from 'vitest'
import { volctl } from './run-volctl.ts'

it.each([
  { args: [], says: 'missing flag: --for' },
  { args: ['--for=gone', 'web-0'], says: 'Expected --for=gone to be one of: mounted, unmounted, detached, in-sync' },
  { args: ['--for=mounted'], says: 'nothing is named to wait for' },
  { args: ['--for=mounted', 'web-0', '--timeout', '10'], says: '--timeout: "10" is not a duration.' },
  { args: ['--for=mounted', 'web-0', '--orphans'], says: 'unknown flag: --orphans' },
])('1: $args', async ({ args, says }) => {
  const { status, stdout, stderr } = await volctl(['wait', ...args])
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  expect(stderr).toContain(says)
  expect(stderr).toMatch(/^volctl: .+\n {8}.+\n$/)
})
