import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { VOLUMES } from '../../src/core/kube/api/objects.ts'
import { objectPath } from '../../src/core/kube/api/resources.ts'
import { ApiError } from '../../src/core/kube/api-error.ts'
import type { KubeClient } from '../../src/core/kube/kube-client.ts'
import { retryDelayMs } from '../../src/core/kube/retry.ts'
import { anything } from '../../src/core/trust/shape.ts'
import { startApiServer, type TestApiServer } from '../helpers/api-server/start.ts'
import { connect, failureOf } from './connect.ts'

const ONE = { name: 'pv-00' }

let server: TestApiServer
let client: KubeClient

beforeAll(async () => {
  const objects = Array.from({ length: 25 }, (_, index) => ({
    kind: 'PersistentVolume',
    metadata: { name: `pv-${String(index).padStart(2, '0')}` },
    spec: {},
  }))
  server = await startApiServer({ objects, nodeName: 'node-1' })
})

afterAll(async () => await server.stop())

beforeEach(() => {
  server.reset()
  client = connect(server, 'admin', { pageSize: 10 })
})

afterEach(() => client.close())

function count(): number {
  return server.requests().length
}

describe('lists', () => {
  it('joins the pages and asks for a consistent state: no resourceVersion', async () => {
    const list = await client.list(VOLUMES)
    expect(list.items.map(({ metadata }) => metadata.name)).toEqual(
      Array.from({ length: 25 }, (_, index) => `pv-${String(index).padStart(2, '0')}`),
    )
    expect(list.resourceVersion).toMatch(/^\d+$/)
    expect(list.items[0]).toMatchObject({ kind: 'PersistentVolume', apiVersion: 'v1' })
    const paths = server.requests().map(({ path }) => path)
    expect(paths).toHaveLength(3)
    for (const path of paths) expect(path).not.toContain('resourceVersion')
  })

  it.each([
    { name: 'no items', body: '{"kind":"PersistentVolumeList","metadata":{}}', says: /not a list/ },
    { name: 'an empty list of something else', body: '{"kind":"ConfigMapList","items":[]}', says: /not a list/ },
    {
      name: 'a list of which more is left, and nothing says where',
      body: '{"kind":"PersistentVolumeList","metadata":{"remainingItemCount":1},"items":[]}',
      says: /cut off/,
    },
    {
      name: 'the same page for ever',
      body: '{"kind":"PersistentVolumeList","metadata":{"continue":"x"},"items":[]}',
      says: /same page/,
    },
  ])('takes $name for no list', async ({ body, says }) => {
    server.setFaults({ action: { type: 'body', body } })
    const error = await failureOf(client.list(VOLUMES))
    expect(error).toMatchObject({ code: 'ApiFailed', message: expect.stringMatching(/answer|list of/), exit: 1 })
    expect(error.message).toMatch(says)
  })

  it('takes null for none, as Go writes an empty list', async () => {
    const metadata = { continue: null, remainingItemCount: null, resourceVersion: '7' }
    const body = JSON.stringify({ kind: 'PersistentVolumeList', metadata, items: null })
    server.setFaults({ action: { type: 'body', body } })
    expect(await client.list(VOLUMES)).toEqual({ items: [], resourceVersion: '7' })
  })

  it('takes pages of two states for no list', async () => {
    const page = (metadata: object): string => JSON.stringify({ kind: 'PersistentVolumeList', metadata, items: [] })
    server.setFaults(
      { times: 1, action: { type: 'body', body: page({ continue: 'more', resourceVersion: '7' }) } },
      { times: 1, action: { type: 'body', body: page({ resourceVersion: '8' }) } },
    )
    const error = await failureOf(client.list(VOLUMES))
    expect(error).toMatchObject({ code: 'ApiFailed', message: expect.stringContaining('pages of two states') })
  })

  it('keeps no text of a page while the next one is awaited (S34)', async () => {
    setFlagsFromString('--expose-gc')
    const collectGarbage: () => void = runInNewContext('gc')
    const textsInMemory = (): number => {
      collectGarbage()
      return process.memoryUsage().arrayBuffers
    }
    const before = textsInMemory()
    const spaces = ' '.repeat(20_000_000)
    const body = `{"kind":"PersistentVolumeList","metadata":{"continue":"more"},"items":[]}${spaces}`
    server.setFaults({ times: 1, action: { type: 'body', body } }, { action: { type: 'hold' } })
    const controller = new AbortController()
    const ended = expect(client.list(VOLUMES, { signal: controller.signal })).rejects.toThrow('interrupted')
    await expect.poll(server.held).toBe(1)
    await expect.poll(() => textsInMemory() - before).toBeLessThan(spaces.length / 2)
    controller.abort(new Error('interrupted'))
    await ended
  })
})

describe('retries', () => {
  it.each([
    { name: '429 with Retry-After', action: { type: 'status', status: 429, retryAfter: 0 } },
    { name: '500', action: { type: 'status', status: 500 } },
    { name: 'a dropped connection', action: { type: 'drop' } },
  ] as const)('asks again after $name', async ({ action }) => {
    server.setFaults({ times: 2, action })
    expect((await client.list(VOLUMES)).items).toHaveLength(25)
  })

  it('never repeats a delete whose answer was lost, but one that was turned away', async () => {
    const remove = () =>
      client.send('delete', { path: objectPath(VOLUMES, { name: 'no-such' }), body: {}, shape: anything })
    server.setFaults({ method: 'DELETE', action: { type: 'drop' } })
    expect(await failureOf(remove())).toMatchObject({ code: 'ApiUnreachable' })
    expect(count()).toBe(1)
    server.setFaults({ times: 1, action: { type: 'status', status: 429, retryAfter: 0 } })
    expect(await failureOf(remove())).toMatchObject({ code: 'NotFound', isAbsent: true })
  })

  it('does not repeat what the server decided', async () => {
    expect(await failureOf(connect(server, 'nobody').get(VOLUMES, ONE))).toMatchObject({ code: 'Forbidden' })
    expect(count()).toBe(1)
  })

  it('waits as long as it is told, within what is plausible, else longer each time', () => {
    const failure = (retryAfter?: number): ApiError =>
      new ApiError({ code: 'ApiFailed', message: 'x' }, { status: 429, reason: 'X', retryAfter })
    expect(retryDelayMs(failure(3), 0)).toBe(3000)
    expect(retryDelayMs(failure(9999), 0)).toBe(32_000)
    const waits = [0, 1, 2, 9].map((attempt) => retryDelayMs(failure(), attempt, () => 1))
    expect(waits).toEqual([100, 200, 400, 2000])
    expect(retryDelayMs(failure(), 0, () => 0)).toBe(50)
  })
})

describe('an API server that cannot be used is one clear line', () => {
  it('that does not answer in time', async () => {
    server.setFaults({ action: { type: 'hang' } })
    const hasty = connect(server, 'admin', { deadlineMs: 1500 })
    const error = await failureOf(hasty.get(VOLUMES, ONE))
    hasty.close()
    expect(error).toMatchObject({
      code: 'ApiUnreachable',
      message: `The API server ${server.url} did not give an answer within 1.5 s.`,
      status: 0,
      exit: 1,
    })
    expect(count()).toBe(1)
  })

  it('of another authority', async () => {
    await using other = await startApiServer({ nodeName: 'node-1', untrusted: true })
    const error = await failureOf(connect(other, 'admin').get(VOLUMES, ONE))
    expect(error).toMatchObject({
      code: 'TlsMismatch',
      exit: 1,
      hint: expect.stringContaining('certificate-authority'),
    })
    expect(error.message).toMatch(/^TLS with the API server https:.* failed: /)
    // Advice for a Node.js program is none for volctl.
    expect(error.message).not.toMatch(/Node\.js|: \(/)
  })

  it.each([
    { name: 'an object that does not exist', resource: VOLUMES, isAbsent: true },
    {
      name: 'a path that does not exist is no absence',
      resource: { ...VOLUMES, plural: 'nonsense' },
      isAbsent: false,
    },
  ])('$name', async ({ resource, isAbsent }) => {
    const error = await failureOf(client.get(resource, { name: 'none' }))
    expect(error).toMatchObject({ code: 'NotFound', status: 404, isAbsent })
    expect(/check that the server address/.test(String(error.hint))).toBe(!isAbsent)
  })

  it('takes a 404 without a Status for no absence (S3)', async () => {
    server.setFaults({ action: { type: 'status', status: 404, reason: 'NotFound' } })
    expect(await failureOf(client.get(VOLUMES, ONE))).toMatchObject({ status: 404, isAbsent: false })
  })
})

it("tells how far this host's clock is from the server's (S28)", async () => {
  server.set({ clockSkewMs: 3_600_000 })
  await client.get(VOLUMES, ONE)
  expect(Math.abs((client.clockSkewMs ?? 0) - 3_600_000)).toBeLessThan(5_000)
  // One of the clocks is set: the next answer tells.
  server.set({ clockSkewMs: 0 })
  await client.get(VOLUMES, ONE)
  expect(Math.abs(client.clockSkewMs ?? Number.NaN)).toBeLessThan(5_000)
})

it('asks for compressed answers where the server is elsewhere', async () => {
  // 0.0.0.0 reaches this host without being a loopback address.
  const blob = 'x'.repeat(200_000)
  const objects = [{ kind: 'PersistentVolume', metadata: { name: 'big', annotations: { blob } }, spec: {} }]
  await using elsewhere = await startApiServer({ nodeName: 'node-1', host: '0.0.0.0', objects })
  const remote = connect(elsewhere, 'admin')
  const before = elsewhere.connections()
  for (let asked = 0; asked < 3; asked++)
    expect((await remote.list(VOLUMES)).items).toMatchObject([{ metadata: { annotations: { blob } } }])
  remote.close()
  // What is read to its end leaves its connection for the next.
  expect(elsewhere.connections() - before).toBe(1)
})
