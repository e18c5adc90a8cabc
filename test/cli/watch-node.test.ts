/** `plan -w` and `status -w` as whole commands, beside a live API server. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readSnapshot } from '../../src/core/snapshot/read-snapshot.ts'
import { until } from '../helpers/until.ts'
import { TEST_BUNDLE } from '../helpers/volctl-program.ts'
import { startWarmNode, type WarmNode } from '../helpers/warm-node.ts'
import { CAPTURES, volctl } from './run-volctl.ts'

const HEALTHY = join(CAPTURES, 'healthy', 'node.json')

function watching(node: WarmNode, command: string, ...words: readonly string[]) {
  const child = spawn(TEST_BUNDLE, [command, '-w', ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...node.env },
  })
  let [said, wrong] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text) => (said += text))
  child.stderr.setEncoding('utf8').on('data', (text) => (wrong += text))
  const ended = once(child, 'close')
  return { child, said: () => said, wrong: () => wrong, ended, [Symbol.dispose]: () => void child.kill('SIGKILL') }
}

it.each(['plan', 'status'])('%s -w: a line for each change, until Ctrl-C', async (command) => {
  await using node = await startWarmNode(HEALTHY)
  using watch = watching(node, command)
  const { child, said, wrong, ended } = watch
  expect(await until(() => said().includes('MountVolume')), wrong()).toBe(true)
  const first = said().split('\n').length
  for (const line of said().trimEnd().split('\n')) expect(line).toMatch(/^\d{4}-\S+Z .+: /)
  await node.api.remove('Pod', 'p-csi-fs', 'pg')
  expect(await until(() => said().split('\n').length > first), wrong()).toBe(true)
  expect(
    said()
      .split('\n')
      .slice(first - 1)
      .join('\n'),
  ).toContain('p-csi-fs')
  child.kill('SIGINT')
  expect(await ended).toEqual([130, null])
  expect(wrong()).toBe('')
})

it('status -w POD: until nothing is left of this pod, whatever is left of others', async () => {
  await using node = await startWarmNode(HEALTHY)
  const { snapshot } = await readSnapshot(HEALTHY)
  const done = snapshot.api?.pods.find(({ metadata }) => metadata.name === 'p-done')
  await node.api.put({ ...done, status: { phase: 'Running' } })
  using watch = watching(node, 'status', 'p-done')
  const { child, said, wrong, ended } = watch
  expect(await until(() => said().includes('p-done')), wrong()).toBe(true)
  await node.api.put({ ...done })
  expect(await until(() => child.exitCode !== null), said()).toBe(true)
  expect(await ended).toEqual([0, null])
  expect(said()).not.toContain('p-csi-fs')
  expect(wrong()).toBe('')
  expect((await volctl(['plan', '--detailed-exitcode'], { env: node.env })).status).toBe(2)
})

it.each([
  { args: ['plan', '-w', '-o', 'json'], says: '-w goes with -o table and wide, not with -o json' },
  { args: ['plan', '-w', '--cluster'], says: '--watch is for the pass over one node' },
  { args: ['plan', '-w', '--snapshot', 'x'], says: '--watch' },
])('1: $args', async ({ args, says }) => {
  const { status, stderr } = await volctl(args)
  expect(status).toBe(1)
  expect(stderr).toContain(says)
})
