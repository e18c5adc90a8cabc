/** volctl by its second name, as kubectl finds a plugin. */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, describe, expect, it } from 'vitest'
import { BUNDLE } from '../helpers/volctl-program.ts'
import { CAPTURES, type Result } from './run-volctl.ts'

const CAPTURE = join(CAPTURES, 'forcedel-killed', 'before.json')

const directory = mkdtempSync(join(tmpdir(), 'volctl-plugin-'))
const plugin = join(directory, 'kubectl-volctl')
symlinkSync(BUNDLE, plugin)
afterAll(() => rmSync(directory, { recursive: true, force: true }))

async function called(...args: string[]): Promise<Result> {
  const { exitCode, stdout, stderr } = await execa(plugin, args, {
    reject: false,
    stdin: 'ignore',
    stripFinalNewline: false,
  })
  return { status: exitCode, stdout, stderr }
}

describe('a command that is printed is the one that is typed here', () => {
  it('in the help', async () => {
    const { stdout } = await called('plan', '--help')
    expect(stdout).toContain('$ kubectl volctl plan')
    expect(stdout).toContain('kubectl volctl plan --help-all')
    expect((await called()).stdout).toContain('What is wrong on this node: kubectl volctl plan')
  })

  // krew installs no program of the name volctl.
  it.each([
    { args: ['plan', '--oprhans'], says: 'See kubectl volctl plan --help' },
    { args: ['--oprhans'], says: 'See kubectl volctl --help' },
  ])('in the hint of a command line that is not understood: $args', async ({ args, says }) => {
    expect((await called(...args)).stderr).toContain(says)
  })

  it('in the next step; what is typed on the node is volctl there', async () => {
    const { stdout } = await called('plan', '--snapshot', CAPTURE)
    expect(stdout).toMatch(/Next: (?:kubectl volctl (?:explain|plan) .*--snapshot|on node \S+: volctl apply)/)
  })

  it('of a cluster, in what lifts a cause as well; JSON has the same as under the other name', async () => {
    const args = ['plan', '--cluster', '--snapshot', join(CAPTURES, '..', 'clusters', 'node-gone.jsonl')]
    const { stdout } = await called(...args)
    expect(stdout).toMatch(/Next: .*kubectl volctl (?:plan|explain|apply) --cluster/)
    expect(stdout.replaceAll('kubectl volctl', '')).not.toContain('volctl plan --cluster')
    expect((await called(...args, '-o', 'json')).stdout).not.toContain('kubectl volctl')
  })
})
