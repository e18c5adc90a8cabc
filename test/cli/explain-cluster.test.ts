/** `volctl explain --cluster`, as a person or a script runs it: from a snapshot, and live with the rights of its role. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { attached, base, claimed, node, pod } from '../cluster/apply/scene.ts'
import { explanationDefects } from '../cluster/explain/schema.ts'
import { startApiServer, type TestApiServer } from '../helpers/api-server/start.ts'
import { CAPTURES, volctl } from './run-volctl.ts'

const CLUSTERS = join(CAPTURES, '..', 'clusters')
const explain = (cluster: string, ...args: string[]) =>
  volctl(['explain', '--cluster', '--snapshot', join(CLUSTERS, `${cluster}.jsonl`), ...args])

describe('from a snapshot', () => {
  it('as kubectl has it, in JSON', async () => {
    const { status, stdout, stderr } = await explain('node-gone', 'pvc', 'data', '-n', 'shop', '-o', 'json')
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    const answer = JSON.parse(stdout)
    expect(explanationDefects(answer)).toEqual([])
    expect(answer).toMatchObject({
      scope: 'cluster',
      subject: { kind: 'PersistentVolumeClaim', name: 'shop/data' },
      verdict: { state: 'blocked', code: 'MachineMayWrite' },
    })
  })

  it('-o name is a question again', async () => {
    const { stdout } = await explain('node-gone', 'pv-data', '-o', 'name')
    expect(stdout).toBe('persistentvolume/pv-data\n')
    expect((await explain('node-gone', stdout.trim(), '-o', 'name')).stdout).toBe(stdout)
  })

  it('flags of a plan change the answer as they change the plan', async () => {
    const { stdout } = await explain('node-gone', 'shop/web-0', '--node-gone', 'node-1', '-o', 'json')
    const { operations } = JSON.parse(stdout) as { operations: { kind: string; blocked?: object }[] }
    expect(operations.map(({ kind, blocked }) => [kind, blocked])).toEqual([
      ['DetachVolume', undefined],
      ['AttachVolume', undefined],
    ])
  })

  it('a code needs no cluster', async () =>
    expect((await volctl(['explain', '--cluster', 'MachineMayWrite'])).stdout).toContain('MachineMayWrite'))

  it.each([
    { args: ['shop/web-1'], stderr: 'Did you mean pod/shop/web-0?' },
    { args: ['/var/lib/kubelet'], stderr: 'kubectl volctl on NODE explain WHAT' },
    { args: ['web-0', '--node', 'node-2'], stderr: 'volctl explain --cluster node/NAME' },
    { args: ['web-0', '--orphans'], stderr: 'Leave out --orphans' },
  ])('$args: one clear line', async ({ args, stderr }) => {
    const answer = await explain('node-gone', ...args)
    expect(answer).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining(stderr) })
  })

  it('of a node it is refused, with what to give', async () => {
    const { status, stderr } = await volctl([
      'explain',
      '--cluster',
      'x',
      '--snapshot',
      join(CAPTURES, 'stuck', 'before.json'),
    ])
    expect(status).toBe(1)
    expect(stderr).toContain('volctl snapshot --cluster -o FILE')
  })
})

describe('live', () => {
  let api: TestApiServer
  beforeAll(async () => {
    api = await startApiServer({ detachDelayMs: -1 })
    await api.put(
      ...base(),
      ...node('here'),
      ...claimed('data'),
      pod('web-0', 'here', 'data'),
      attached('data', 'gone'),
    )
  })
  afterAll(() => api.stop())

  it('only reads, and names the commands that carry it out', async () => {
    await api.clearRequests()
    const { status, stdout } = await volctl([
      ...['explain', '--cluster', '--kubeconfig', api.kubeconfig('admin'), '--node-gone', 'gone', 'pv/pv-data'],
    ])
    expect(status).toBe(0)
    expect(stdout).toContain('Next: volctl apply --cluster --volume pv-data')
    expect(stdout).toContain('--node-gone gone')
    const requests = await api.requests()
    const writes = requests.filter(({ method, path }) => method !== 'GET' && !/reviews$/.test(path))
    expect(writes).toEqual([])
  })
})
