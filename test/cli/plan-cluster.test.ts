/** `volctl plan --cluster NAME`, as a person or a script runs it, from a snapshot. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { CLUSTERS } from '../helpers/captures.ts'
import { volctl } from '../helpers/run-main.ts'

const plan = (cluster: string, ...args: string[]) =>
  volctl(['plan', '--cluster', '--snapshot', join(CLUSTERS, `${cluster}.jsonl`), ...args])

it.each(['pvc/shop/data', 'pv/pv-data', 'pod/shop/web-0', 'shop/web-0', 'volume/h-data'])(
  '%s, in JSON',
  async (name) => {
    const { status, stdout, stderr } = await plan('node-gone', name, '-o', 'json')
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(JSON.parse(stdout).stands).toMatchObject([
      { message: expect.stringMatching(/^attached to node-1, wanted by no pod: its detach is blocked/) },
      { message: expect.stringMatching(/^not attached to node-2, but to node-1, wanted by shop\/web-0: its attach/) },
    ])
  },
)

it('-o name is a name again, of that attachment alone', async () => {
  const names = (await plan('node-gone', '-o', 'name')).stdout.trim().split('\n')
  const { stdout } = await plan('node-gone', names[0] ?? '')
  expect(stdout).toContain('As it stands\n  shop/data   attached to node-1')
  expect(stdout).not.toContain('not attached')
})

it('-v has every decision with its rule', async () => {
  const { stderr } = await plan('node-gone', '-v', 'shop/web-0')
  expect(stderr).toMatch(/R734: pv-data on node node-1: node node-1 does not exist/)
  expect(stderr).toMatch(/R745: pv-data on node node-2: pod shop\/web-0/)
})

it.each([
  { args: ['shop/web-1'], stderr: 'matches no scheduled pod with a volume' },
  { args: ['pvc/shop/dta'], stderr: 'shop/dta matches no volume in this cluster' },
])('$args: one clear line', async ({ args, stderr }) => {
  const answer = await plan('node-gone', ...args)
  expect(answer).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining(stderr) })
})
