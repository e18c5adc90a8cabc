/** `volctl apply --cluster`, and a plan before it, as a person or a script runs it: flags, answers, the journal. */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readJournal } from '../../src/core/apply/journal/read-journal.ts'
import { attached, base, claimed, DRIVER, node, pod } from '../apply/cluster/scene.ts'
import { startAttacher } from '../cluster/attacher.ts'
import { startApiServer, type TestApiServer } from '../helpers/api-server/start.ts'
import { type Result, volctl, type World } from '../helpers/run-main.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

let api: TestApiServer
beforeAll(async () => {
  api = await startApiServer({ detachDelayMs: -1 })
  api.put(...base(), ...node('here'), ...claimed('data'), pod('web-0', 'here', 'data'), attached('data', 'gone'))
})
afterAll(() => api.stop())

const state = temporaryDirectory()

/** @param by whose kubeconfig the API is asked */
const run = (command: string, args: readonly string[], world: World = {}, by = api): Promise<Result> =>
  volctl([command, '--cluster', '--kubeconfig', by.kubeconfig('admin'), ...args], {
    env: { XDG_STATE_HOME: state },
    ...world,
  })
const apply = (...args: string[]): Promise<Result> => run('apply', args)

it('--kubeconfig in-cluster is the service account of a Pod, as in every command, and no file', async () => {
  const { status, stderr } = await volctl(['apply', '--cluster', '--kubeconfig', 'in-cluster', '--yes'])
  expect(stderr).toContain('--kubeconfig in-cluster: volctl is not in a pod with a service account.')
  expect(status).toBe(1)
})

describe('without an order by name', () => {
  it('the attachment of a node that is gone is blocked, and what comes after it too', async () => {
    const { status, stdout } = await apply('--yes')
    expect(stdout).toContain('blocked  1  DetachVolume  gone  pv-data')
    expect(stdout).toContain('MachineMayWrite')
    expect(stdout).toContain('Apply: 2 blocked.')
    expect(status).toBe(3)
  })

  it('nobody is asked for a yes to nothing', async () => {
    const { status, stderr } = await run('apply', [], { terminal: {}, input: 'no\n' })
    expect([status, stderr]).toEqual([3, expect.not.stringContaining('to continue')])
  })
})

describe('a saved plan', () => {
  it('is carried out as it was reviewed, and of another cluster not at all', async () => {
    const file = join(state, 'cluster.plan')
    expect((await run('plan', ['--out', file])).status).toBe(0)
    const applied = await apply(file)
    expect(applied.stdout).toContain('blocked  1  DetachVolume  gone  pv-data')
    expect(applied.status).toBe(3)
    const other = join(state, 'other.plan')
    writeFileSync(other, readFileSync(file, 'utf8').replaceAll('cluster-1', 'cluster-2'), { mode: 0o600 })
    const refused = await apply(other)
    expect(refused.stderr).toContain('the plan was made for cluster')
    expect(refused.status).not.toBe(0)
  })
})

it('a plan only reads, and names the command that carries it out', async () => {
  api.clearRequests()
  const { stdout } = await run('plan', ['--node-gone', 'gone', 'pv/pv-data'])
  expect(stdout).toContain('attached to gone, wanted by no pod: its detach is ready')
  expect(stdout).toMatch(/Next: volctl apply --volume pv-data .*--cluster --node-gone gone/)
  const writes = api.requests().filter(({ method, path }) => method !== 'GET' && !/reviews$/.test(path))
  expect(writes).toEqual([])
})

it('only yes is a yes', async () => {
  const typed = await run('apply', ['--node-gone', 'gone'], { terminal: { columns: 80 }, input: 'y\n' })
  expect(typed).toMatchObject({ status: 1, stderr: expect.stringContaining('not confirmed: nothing was changed') })
})

describe('a cluster whose API has lost its pods (S29)', () => {
  let lost: TestApiServer
  const file = join(state, 'before.plan')
  beforeAll(async () => {
    lost = await startApiServer({ detachDelayMs: -1 })
    lost.put(...base(), ...node('here', { inUse: ['other'] }), ...claimed('data'), ...claimed('other'))
    lost.put(pod('web-0', 'here', 'other'), attached('data', 'gone'), attached('other', 'here'))
    expect(await run('plan', ['--node-gone', 'gone', '--out', file], {}, lost)).toMatchObject({ status: 0 })
    lost.remove('Pod', 'web-0', 'shop')
    lost.clearRequests()
  })
  afterAll(() => lost.stop())

  it.each([
    { name: 'as JSON', args: ['--node-gone', 'gone', '-o', 'json', '--yes'], at: {} },
    { name: 'at a terminal', args: ['--node-gone', 'gone'], at: { terminal: {} } },
    { name: 'of a plan from before, at a terminal', args: [file], at: { terminal: {} } },
  ])('$name: refused before anything is asked, done or answered', async ({ args, at }) => {
    const { status, stdout, stderr } = await run('apply', args, { input: 'yes\n', ...at }, lost)
    expect([status, stdout]).toEqual([4, ''])
    expect(stderr).toContain('the API lists no pod, but nodes report 1 volume in use')
    expect(stderr).not.toContain("Type 'yes'")
    expect(lost.requests().filter(({ method }) => method === 'DELETE' || method === 'PATCH')).toEqual([])
  })
})

it('with --node-gone: detaches and attaches, an event a line, and writes the journal into a directory that only the caller may read', async () => {
  await using _ = await startAttacher(api, { driver: DRIVER })
  const { status, stdout, stderr } = await apply('--node-gone', 'gone', '-o', 'ndjson')
  expect([status, stderr]).toEqual([0, ''])
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; node?: string })
  expect(events.filter(({ type }) => type === 'done')).toMatchObject([
    { kind: 'DetachVolume', node: 'gone', volume: 'pv-data' },
    { kind: 'AttachVolume', node: 'here', volume: 'pv-data', pod: { name: 'web-0' } },
  ])
  expect(events.at(-1)).toMatchObject({ type: 'result', exit: 0, outcomes: { done: 2 }, left: 0 })
  const journal = join(state, 'volctl')
  expect(statSync(journal).mode & 0o777).toBe(0o700)
  expect(readJournal(journal).applies).toMatchObject([{ exit: 0, node: api.url }])
  for (const command of ['plan', 'apply']) {
    const asked = (...more: string[]) => run(command, ['-o', 'json', '--node-gone', ...more])
    // Detached by now, nothing names it any more: the same as a name that was mistyped.
    for (const name of ['gone', 'gnoe']) {
      expect(await asked(name)).toMatchObject({ status: 1, stderr: expect.stringContaining('NothingNamed') })
      expect((await asked(name, '--ignore-not-found')).status).toBe(0)
    }
  }
  const again = JSON.parse((await apply('-o', 'json')).stdout) as object
  expect(again).toMatchObject({ kind: 'ApplyResult', scope: 'cluster', cluster: { uid: 'cluster-1' }, outcomes: [] })
})

it.each([
  [['--node-gone', 'hree'], 'hree matches no node'],
  [['--orphans', '--lazy', '/x'], '--orphans does not go with --cluster'],
  [['some.plan', '--node-gone', 'gone'], '--node-gone cannot be combined with a plan file'],
])('%j: nothing is done', async (args, message) => {
  const { status, stderr } = await apply(...args)
  expect([status, stderr]).toEqual([1, expect.stringContaining(message)])
})
