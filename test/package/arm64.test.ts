/** The executable for the other machine, under an emulator with the oldest glibc that volctl is for. */
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, expect, it } from 'vitest'
import { makeExecutable } from '../../scripts/package/executable.ts'
import { leastRoot } from '../../scripts/package/fetched.ts'
import { EMULATOR } from '../../scripts/package/run.ts'
import { startVolctl } from '../cli/run-volctl.ts'
import { CAPTURES } from '../helpers/captures.ts'
import { sweep, temporary } from '../helpers/left-behind.ts'

const DIST = join(import.meta.dirname, '..', '..', 'dist')
const CAPTURE = join(CAPTURES, 'forcedel-killed', 'before.json')
const work = temporary('volctl-arm64-')
afterAll(() => sweep(work))

const timeless = (text: string): string => text.replace(/"createdAt": "[^"]*"/, '')

it('the executable for arm64 answers as the bundle does here', async () => {
  const path = join(work, 'volctl')
  await makeExecutable('arm64', DIST, path)
  const root = await leastRoot('arm64')
  // Nothing in the environment: it would start itself once more, which the emulator cannot.
  const run = (...args: readonly string[]) =>
    execa(EMULATOR, ['-L', root, path, ...args], { env: {}, extendEnv: false, stripFinalNewline: false })
  expect((await run('--version')).stdout).toMatch(/^volctl\/\d\S* linux-arm64 node-v\S+\n$/)
  const args = ['plan', '--orphans', '-o', 'json', '--snapshot', CAPTURE]
  expect(timeless((await run(...args)).stdout)).toBe(timeless((await startVolctl(args)).stdout))
})
