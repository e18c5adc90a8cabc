/** The built volctl as the walker that it starts itself for file systems that may not answer. */

import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { execa } from 'execa'
import { expect, it } from 'vitest'
import { containingMount } from '../../src/core/linux/location.ts'
import { ownCommand } from '../../src/core/linux/own-child.ts'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import { changeOwnershipApart } from '../../src/core/node/ownership-apart.ts'
import { thisRun, within } from '../../src/core/trust/run.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { BUNDLE } from '../helpers/volctl-program.ts'

const LAUNCHER = new URL('../../dist/launch.cjs', import.meta.url).pathname
const WORD = ownCommand('ownership-walker').at(-1) ?? ''
const path = temporaryDirectory()
writeFileSync(`${path}/file`, 'x', { mode: 0o600 })

const gid = process.getgid?.() ?? 0
const mountId = containingMount(parseMountinfo(readFileSync('/proc/self/mountinfo')), path)?.id ?? 0
const request = {
  parent: process.pid,
  path,
  mountId,
  ownership: { gid, policy: 'Always' as const, readOnly: false, ignoreErrors: false },
}
const mode = () => (statSync(`${path}/file`).mode & 0o777).toString(8)

async function ask(input: unknown, args: readonly string[] = [WORD]) {
  const text = typeof input === 'string' ? input : JSON.stringify(input)
  const { exitCode, stdout, stderr } = await execa(BUNDLE, args, { input: text, reject: false })
  return { exitCode, stdout, stderr }
}

it.each([
  ['nothing', '', /Unexpected end of JSON/],
  ['no request', 'plan', /JSON/],
  ['another parent', { ...request, parent: 1 }, /not from the parent process/],
  ['a relative path', { ...request, path: 'tmp' }, /path is not an absolute path/],
  ['no mount', { ...request, mountId: undefined }, /mountId is missing/],
  ['no group', { ...request, ownership: { ...request.ownership, gid: -1 } }, /gid is not a group id/],
  ['what chown takes for no change', { ...request, ownership: { ...request.ownership, gid: 2 ** 32 - 1 } }, /group id/],
])('%s is refused, and nothing touched', async (_, input, words) => {
  const { exitCode, stdout, stderr } = await ask(input)
  expect({ exitCode, stdout, mode: mode() }).toEqual({ exitCode: 1, stdout: '', mode: '600' })
  expect(stderr).toMatch(words)
  expect(stderr.split('\n')).toHaveLength(1)
})

it('is no flag beside others, and no command', async () => {
  for (const args of [
    ['plan', WORD],
    [WORD, 'plan'],
  ])
    expect((await ask(request, args)).exitCode).not.toBe(0)
  expect(mode()).toBe('600')
})

it('says why a walk did not go on, and what that is about', async () => {
  const { stdout } = await ask({ ...request, mountId: mountId + 100_000 })
  const args = { what: path, found: mountId, mountId: mountId + 100_000 }
  expect(JSON.parse(stdout)).toMatchObject({ failed: { code: 'ForeignMount', args } })
  expect(mode()).toBe('600')
})

it('walks, and says what it did', async () => {
  const { exitCode, stdout, stderr } = await ask(request)
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  expect(JSON.parse(stdout)).toEqual({ done: { entries: 2, failed: 0, mounts: [] } })
  expect(mode()).toBe('660')
})

it('is started by the command line that volctl makes of its own', async () => {
  chmodSync(`${path}/file`, 0o600)
  const command = await within({ ...thisRun(), script: LAUNCHER }, async () => ownCommand('ownership-walker'))
  const { ownership } = request
  const done = await changeOwnershipApart(path, { mountId, ownership }, { command, deadlineMs: 20_000 })
  expect(done).toEqual({ entries: 2, failed: 0, mounts: [] })
  expect(mode()).toBe('660')
})
