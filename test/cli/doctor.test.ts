/** The exit status of `volctl doctor`, and that it answers where nothing works. */
import { expect, it } from 'vitest'
import { volctl } from '../helpers/run-main.ts'

it('1 where plan cannot, and what is wrong is said all the same', async () => {
  const run = await volctl(['doctor', '--kubeconfig', '/nonexistent', '--root-dir', '/nonexistent', '-o', 'json'])
  expect(run).toMatchObject({ status: 1, stderr: '' })
  const { works, checks } = JSON.parse(run.stdout) as { works: object; checks: { id: string; state: string }[] }
  expect(works).toEqual({ plan: false, apply: false })
  expect(checks.filter(({ state }) => state === 'failed').map(({ id }) => id)).toEqual(
    expect.arrayContaining(['ApiServer', 'NodeFound']),
  )
})
