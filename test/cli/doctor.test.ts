/** The exit status of `volctl doctor`, and that it answers where nothing works. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { CAPTURES } from '../helpers/captures.ts'
import { volctl } from '../helpers/run-main.ts'

const healthy = join(CAPTURES, 'healthy', 'node.json')

it('0 where plan can work, and the next command is the plan of this snapshot', async () => {
  const { status, stdout, stderr } = await volctl(['doctor', '--snapshot', healthy])
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toMatch(/^pg-node \(\S+\): a plan can be made from this snapshot\n/)
  expect(stdout).toMatch(new RegExp(`^Next: volctl plan --snapshot ${RegExp.escape(healthy)}\\b`, 'm'))
})

it('1 where plan cannot, and what is wrong is said all the same', async () => {
  const run = await volctl(['doctor', '--kubeconfig', '/nonexistent', '--root-dir', '/nonexistent', '-o', 'json'])
  expect(run).toMatchObject({ status: 1, stderr: '' })
  const { works, checks } = JSON.parse(run.stdout) as { works: object; checks: { id: string; state: string }[] }
  expect(works).toEqual({ plan: false, apply: false })
  expect(checks.filter(({ state }) => state === 'failed').map(({ id }) => id)).toEqual(
    expect.arrayContaining(['ApiServer', 'NodeFound']),
  )
})
