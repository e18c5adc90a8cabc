/** The executable for the other machine, under an emulator with the oldest glibc that volctl is for. */
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { makeExecutable } from '../../scripts/package/executable.ts'
import { leastRoot } from '../../scripts/package/fetched.ts'
import { EMULATOR } from '../../scripts/package/run.ts'
import { startVolctl } from '../cli/run-volctl.ts'
import { BROKEN } from '../helpers/captures.ts'
import { sweep, temporary } from '../helpers/left-behind.ts'
import { ROOT, timeless } from './roots.ts'

const work = temporary('volctl-arm64-')
afterAll(() => sweep(work))

it('the executable for arm64 answers as the bundle does here', async () => {
  const path = join(work, 'volctl')
  await makeExecutable('arm64', join(ROOT, 'dist'), path)
  const root = await leastRoot('arm64')
  // Nothing in the environment: it would start itself once more, which the emulator cannot.
  const options = { program: EMULATOR, env: {}, extendEnv: false }
  const ask = (...args: readonly string[]) => startVolctl(['-L', root, path, ...args], options)
  expect((await ask('--version')).stdout).toMatch(/^volctl\/\d\S* linux-arm64 node-v\S+\n$/)
  const args = ['plan', '--orphans', '-o', 'json', '--snapshot', BROKEN]
  expect(timeless(await ask(...args))).toEqual(timeless(await startVolctl(args)))
})
