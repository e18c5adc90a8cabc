/** The other machine, under an emulator with the oldest glibc that volctl is for: the executable, and unit tests. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, describe, expect, it } from 'vitest'
import { makeExecutable } from '../../scripts/package/executable.ts'
import { leastRoot } from '../../scripts/package/fetched.ts'
import { EMULATOR, isInstalled } from '../../scripts/package/run.ts'
import { CAPTURES, volctl } from '../cli/run-volctl.ts'
import { sweep, temporary } from '../helpers/left-behind.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const DIST = join(ROOT, 'dist')
const CAPTURE = join(CAPTURES, 'forcedel-killed', 'before.json')
const work = temporary('volctl-arm64-')
afterAll(() => sweep(work))

const unless = process.arch !== 'x64' ? 'emulated on x64' : isInstalled(EMULATOR) ? undefined : `needs ${EMULATOR}`
const timeless = (text: string): string => text.replace(/"createdAt": "[^"]*"/, '')

describe.skipIf(unless !== undefined)(`arm64${unless === undefined ? '' : ` (${unless})`}`, () => {
  // Emulated and beside other builds, it takes longer than any other test.
  it('the executable has a code cache, and answers as the bundle does here', { timeout: 600_000 }, async () => {
    const { path, lacks } = await makeExecutable('arm64', DIST, join(work, 'volctl'))
    expect(lacks.filter((each) => each.includes('code cache'))).toEqual([])
    const root = await leastRoot('arm64')
    // Nothing in the environment: it would start itself once more, which the emulator cannot.
    const run = (...args: readonly string[]) =>
      execa(EMULATOR, ['-L', root, path, ...args], { env: {}, extendEnv: false, stripFinalNewline: false })
    expect((await run('--version')).stdout).toMatch(/^volctl\/\d\S* linux-arm64 node-v\S+\n$/)
    const args = ['plan', '--orphans', '-o', 'json', '--snapshot', CAPTURE]
    expect(timeless((await run(...args)).stdout)).toBe(timeless((await volctl(args)).stdout))
  })

  it('units that read what the machine and the kernel say', async () => {
    const report = join(work, 'report.json')
    const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')
    const args = ['run', '--config', 'vitest.arm64.config.ts', '--reporter=json', `--outputFile=${report}`]
    const { exitCode, stderr } = await execa(process.execPath, [vitest, ...args], { cwd: ROOT, reject: false })
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(JSON.parse(readFileSync(report, 'utf8')).numPassedTests).toBeGreaterThan(200)
  })
})
