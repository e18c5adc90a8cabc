/** volctl by its second name, as kubectl finds a plugin: a command that is printed is the one that is typed here. */
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { BROKEN, CLUSTERS } from '../helpers/captures.ts'
import { volctl } from '../helpers/run-main.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { BUNDLE } from '../helpers/volctl-program.ts'
import { startVolctl } from './run-volctl.ts'

const CLUSTER = ['plan', '--cluster', '--snapshot', join(CLUSTERS, 'node-gone.jsonl')]

// krew installs no program of the name volctl.
it.each([
  { args: [], says: 'What is wrong on this node: kubectl volctl plan' },
  { args: ['plan', '--oprhans'], says: 'See kubectl volctl plan --help' },
  // What is typed on the node is volctl there.
  {
    args: ['plan', '--snapshot', BROKEN],
    says: 'on node pg-node: volctl apply',
  },
  { args: CLUSTER, says: 'then: kubectl volctl plan --cluster' },
])('$says', async ({ args, says }) => {
  const { stdout, stderr } = await volctl(args, { name: 'kubectl-volctl' })
  expect(stdout + stderr).toContain(says)
})

it('of a cluster, everywhere; JSON has the same as under the other name', async () => {
  const { stdout } = await volctl(CLUSTER, { name: 'kubectl-volctl' })
  expect(stdout.replaceAll('kubectl volctl', '')).not.toContain('volctl plan --cluster')
  expect((await volctl([...CLUSTER, '-o', 'json'], { name: 'kubectl-volctl' })).stdout).not.toContain('kubectl volctl')
})

it('the launcher sees its name', async () => {
  const program = join(temporaryDirectory(), 'kubectl-volctl')
  symlinkSync(BUNDLE, program)
  expect((await startVolctl([], { program })).stdout).toContain('kubectl volctl plan')
})
