import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { SandboxState } from '../../src/core/rpc/endpoints.ts'
import { readRuntime } from '../../src/core/rpc/read-runtime.ts'
import { type CriData, type CriServer, startCriServer } from '../helpers/cri-server/start.ts'
import { serve } from '../helpers/grpc/serve.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

let directory = ''
const cleanUps: (() => unknown)[] = []

beforeEach(() => {
  directory = temporaryDirectory()
})
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp()
})

async function runtime(name: string, data: CriData): Promise<CriServer> {
  const server = await startCriServer({ socketPath: join(directory, `${name}.sock`), ...data })
  cleanUps.push(() => server.stop())
  return server
}

function pod(name: string): SandboxState {
  const containers = [{ name: 'c', state: 'CONTAINER_RUNNING', id: 'container-0-0' }]
  return { uid: `uid-${name}`, namespace: 'ns', name, state: 'SANDBOX_READY', containers }
}

const missing = (): string => `unix://${join(directory, 'missing.sock')}`

function read(
  endpoints: readonly string[],
  options: { expected?: boolean; required?: string[]; deadlineMs?: number } = {},
) {
  return readRuntime({ endpoints, expected: true, deadlineMs: 5000, ...options })
}

test('all answering runtimes are united, sockets that are not there are passed over (S9)', async () => {
  const a = await runtime('a', { pods: [pod('one')] })
  const b = await runtime('b', { pods: [pod('two')] })
  await expect(read([missing(), b.endpoint, a.socketPath])).resolves.toEqual({
    source: 'cri',
    endpoint: `${b.endpoint}, ${a.socketPath}`,
    pods: [pod('two'), pod('one')],
  })
})

test('one socket by two paths is one runtime', async () => {
  const a = await runtime('a', { pods: [pod('one')] })
  const link = join(directory, 'link.sock')
  symlinkSync(a.socketPath, link)
  await expect(read([a.endpoint, link])).resolves.toEqual({ source: 'cri', endpoint: a.endpoint, pods: [pod('one')] })
})

describe('nothing answers', () => {
  test('a runtime was expected', async () => {
    await expect(read([missing()])).resolves.toEqual({
      source: 'none',
      endpoint: missing(),
      error: `${missing()}: ListPodSandbox: UNAVAILABLE: no such socket`,
      pods: [],
    })
  })

  test('none is known, and one was expected', async () => {
    await expect(read([])).resolves.toEqual({ source: 'none', error: 'no runtime endpoint is known', pods: [] })
  })
})

describe('one does not answer as it should: an error beside what the others say (S9)', () => {
  const faults: readonly [string, Record<string, string>, RegExp][] = [
    ['it has sandboxes and no containers', { ListContainers: 'UNIMPLEMENTED' }, /ListContainers: UNIMPLEMENTED/],
    ['the containers cannot be listed', { ListContainers: 'PERMISSION_DENIED' }, /ListContainers: PERMISSION_DENIED/],
  ]
  test.each(faults)('%s', async (_name, fault, error) => {
    const good = await runtime('good', { pods: [pod('one')] })
    const bad = await runtime('bad', { pods: [pod('two')], faults: fault })
    const both = await read([bad.endpoint, good.endpoint], { expected: false })
    expect(both).toMatchObject({ source: 'cri', endpoint: good.endpoint, pods: [{ name: 'one' }] })
    expect(both.error).toMatch(error)
    const alone = await read([missing(), bad.endpoint], { expected: false })
    expect(alone).toMatchObject({ source: 'none', endpoint: bad.endpoint, pods: [] })
    expect(alone.error).toMatch(error)
  })

  test('it hangs', async () => {
    const bad = await runtime('bad', { pods: [], faults: { ListContainers: 'HANG' } })
    await expect(read([bad.endpoint], { expected: false, deadlineMs: 300 })).resolves.toMatchObject({
      ...{ source: 'none', endpoint: bad.endpoint, pods: [] },
      error: expect.stringMatching(/DEADLINE_EXCEEDED: no answer within 0.3 s/),
    })
  })

  test('its socket is stale: its containers may live', async () => {
    const good = await runtime('good', { pods: [] })
    const dead = await runtime('dead', { pods: [pod('two')] })
    await dead.stop('SIGKILL')
    await expect(read([good.endpoint, dead.endpoint])).resolves.toMatchObject({
      source: 'cri',
      error: `${dead.endpoint}: ListPodSandbox: UNAVAILABLE: no process listens on the socket`,
    })
  })
})

test('a server of something else, without CRI v1: is no runtime, unless it is the one that the node uses', async () => {
  const other = join(directory, 'other.sock')
  cleanUps.push(serve(other))
  const good = await runtime('good', { pods: [pod('one')] })
  await expect(read([other, good.endpoint])).resolves.toEqual({
    source: 'cri',
    endpoint: good.endpoint,
    pods: [pod('one')],
  })
  await expect(read([other, good.endpoint], { required: [other] })).resolves.toMatchObject({
    source: 'cri',
    pods: [{ name: 'one' }],
    error: expect.stringContaining(`${other}: ListPodSandbox: UNIMPLEMENTED`),
  })
})
