/** `plan -w` and `status -w` as whole commands, beside a live API server. */
import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import { readSnapshot } from '../../src/core/plan/documents/snapshot-file.ts'
import { HEALTHY } from '../helpers/captures.ts'
import { volctl } from '../helpers/run-main.ts'
import { until } from '../helpers/until.ts'
import { startWarmNode, type WarmNode } from '../helpers/warm-node.ts'

/** A run that goes on, with what it has printed until now. */
function watching(node: WarmNode, ...args: readonly string[]) {
  const signals = new EventEmitter()
  let said = ''
  const onOutput = (text: string): void => {
    said += text
  }
  return { ended: volctl(args, { env: node.env, signals, onOutput }), said: () => said, signals }
}

it.each(['plan', 'status'])('%s -w: the answer after each change, until Ctrl-C', async (command) => {
  await using node = await startWarmNode(HEALTHY)
  const { said, signals, ended } = watching(node, command, '-w')
  expect(await until(() => said().includes('Next: '))).toBe(true)
  const first = said()
  expect(first).toMatch(/^\d{4}-\S+Z\npg-node: .+\n/)
  node.api.remove('Pod', 'p-csi-fs', 'pg')
  expect(await until(() => said().length > first.length)).toBe(true)
  expect(said().slice(first.length)).toContain('p-csi-fs')
  signals.emit('SIGINT')
  expect(await ended).toMatchObject({ status: 130, stderr: '' })
})

it('status -w POD: until nothing is left of this pod, whatever is left of others', async () => {
  await using node = await startWarmNode(HEALTHY)
  const { snapshot } = await readSnapshot(HEALTHY)
  const done = snapshot.api?.pods.find(({ metadata }) => metadata.name === 'p-done')
  node.api.put({ ...done, status: { phase: 'Running' } })
  const { said, ended } = watching(node, 'status', '-w', 'p-done')
  expect(await until(() => said().includes('p-done'))).toBe(true)
  node.api.put({ ...done })
  expect(await ended).toMatchObject({ status: 0, stdout: expect.not.stringContaining('p-csi-fs'), stderr: '' })
  expect((await volctl(['plan', '--detailed-exitcode'], { env: node.env })).status).toBe(2)
})

it.each([
  { args: ['plan', '-w', '-o', 'json'], says: '-w goes with -o table and wide, not with -o json' },
  { args: ['plan', '-w', '--cluster'], says: '--watch does not go with --cluster' },
  { args: ['plan', '-w', '--snapshot', 'x'], says: '--watch' },
])('1: $args', async ({ args, says }) => {
  const { status, stderr } = await volctl(args)
  expect(status).toBe(1)
  expect(stderr).toContain(says)
})
