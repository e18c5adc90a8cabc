/** S34: whatever answers in the API server's place, a request ends, in bytes and in time, with one clear line. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ApiObject, type Resource, PODS as SHAPED } from '../../src/core/kube/api/objects.ts'
import type { ApiError } from '../../src/core/kube/api-error.ts'
import type { ClientLimits, KubeClient } from '../../src/core/kube/kube-client.ts'
import { Budget } from '../../src/core/trust/bytes.ts'
import { anything } from '../../src/core/trust/shape.ts'
import { startApiServer, type TestApiServer } from '../helpers/api-server/start.ts'
import type { TrickName } from '../helpers/api-server/tricks.ts'
import { connect, failureOf } from './connect.ts'

const MEBIBYTE = 1024 * 1024
/** Of whatever shape: what is bounded is looked at before. */
const PODS = { ...SHAPED, shape: anything } as Resource<ApiObject>

let server: TestApiServer
let client: KubeClient | undefined

function meet(trick: TrickName, limits: Partial<ClientLimits> = {}): KubeClient {
  server.clearRequests()
  server.setFaults({ action: { type: 'trick', trick } })
  client = connect(server, 'nobody', limits)
  return client
}

/** KiB that this process has ever had. */
let before = 0
beforeAll(async () => {
  server = await startApiServer()
})
beforeEach(() => {
  before = process.resourceUsage().maxRSS
})

afterEach(() => client?.close())
afterAll(() => server.stop())

/** Nothing of the request goes on once it has failed: the connection is gone too. */
async function expectSilence(): Promise<void> {
  await expect.poll(() => server.openConnections()).toBe(0)
}

describe('a request to what is no API server ends', () => {
  it.each<{ trick: TrickName; code: string; says: RegExp; stays?: true; deadlineMs?: number }>([
    {
      trick: 'a list without end',
      code: 'ApiFailed',
      says: /GET \/api\/v1\/pods is larger than 1048576 bytes/,
    },
    { trick: 'a few bytes that unpack without end', code: 'ApiFailed', says: /larger than 1048576 bytes/ },
    {
      trick: 'pieces of one byte',
      // Whichever comes first.
      code: 'ApiFailed|ApiUnreachable',
      says: /larger than 1048576 bytes|an answer within/,
      deadlineMs: 400,
    },
    { trick: 'a byte now and then', code: 'ApiUnreachable', says: /an answer within 0\.4 s/, deadlineMs: 400 },
    { trick: 'hints without end', code: 'ApiUnreachable', says: /an answer within 0\.4 s/, deadlineMs: 400 },
    { trick: 'a head without end', code: 'ApiUnreachable', says: /Header overflow/ },
    { trick: 'a trailer without end', code: 'ApiUnreachable', says: /Header overflow|aborted/ },
    { trick: 'a failure without end', code: 'Forbidden', says: /answered with HTTP 403/ },
    { trick: 'a way to elsewhere', code: 'ApiFailed', says: /answered with HTTP 302/, stays: true },
    { trick: 'another protocol', code: 'ApiUnreachable', says: /closed without an answer/ },
    { trick: 'a list of nothing', code: 'ApiFailed', says: /something other than objects/, stays: true },
  ])('$trick: $code', async ({ trick, code, says, stays = false, deadlineMs = 15_000 }) => {
    const asking = meet(trick, { deadlineMs, listBytes: MEBIBYTE })
    const error = (await failureOf(asking.list(PODS))) as ApiError
    expect(error).toMatchObject({ exit: 1, hint: expect.stringMatching(/\w/) })
    expect(error.code).toMatch(new RegExp(`^(${code})$`))
    expect(error.message).toMatch(says)
    expect(error.message).not.toContain('\n')
    expect(process.resourceUsage().maxRSS - before).toBeLessThan(150 * 1024)
    // A whole answer leaves its connection for the next.
    if (stays) asking.close()
    await expectSilence()
  })

  it('an answer that is too large is not asked for again', async () => {
    const asking = meet('a list without end', { answerBytes: MEBIBYTE })
    expect(await failureOf(asking.get(PODS, { name: 'x' }))).toMatchObject({
      code: 'ApiFailed',
      message: expect.stringMatching(/larger|more than|too many/),
    })
    expect(server.requests()).toHaveLength(1)
  })

  it('stops at once when interrupted in the middle of an answer', async () => {
    const asking = meet('a byte now and then')
    const controller = new AbortController()
    const work = asking.get(PODS, { name: 'x' }, { signal: controller.signal })
    setTimeout(() => controller.abort(new Error('interrupted')), 100)
    await expect(work).rejects.toThrow('interrupted')
    await expectSilence()
  })
})

it.each<{ name: string; trick: TrickName; limits: Partial<ClientLimits>; code: string; says: RegExp }>([
  {
    name: 'of bytes',
    trick: 'ever new pages, each large',
    limits: { listBytes: 8 * MEBIBYTE },
    code: 'ApiFailed',
    says: /more than 8388608 bytes in \d pages/,
  },
  {
    name: 'in time',
    trick: 'ever new pages',
    limits: { listMs: 300, listPages: 1_000_000 },
    code: 'ApiUnreachable',
    says: /all pages of GET \/api\/v1\/pods within 0\.3 s/,
  },
])('a list without end: $name is one clear line', async ({ trick, limits, code, says }) => {
  const asking = meet(trick, limits)
  const error = await failureOf(asking.list(PODS))
  expect(error).toMatchObject({ code, exit: 1, hint: expect.stringMatching(/\w/) })
  expect(error.message).toMatch(says)
})

it('a list in one page, whatever limit was asked for, is taken', async () => {
  const { items } = await meet('one page of everything').list(PODS)
  expect(items).toHaveLength(150_000)
})

it('answers that are received at once share one limit', async () => {
  const budget = new Budget(3 * MEBIBYTE)
  const asking = meet('a list without end', { budget, answerBytes: 2 * MEBIBYTE })
  // What another answer holds just now.
  budget.take(2 * MEBIBYTE)
  const error = await failureOf(asking.get(PODS, { name: 'x' }))
  expect(error).toMatchObject({ code: 'ApiFailed', message: expect.stringMatching(/larger|more than|too many/) })
  expect(error.message).toContain('is larger than 3145728 bytes together with others')
  budget.giveBack(2 * MEBIBYTE)
  // And what this one has held is the next one's.
  expect((await failureOf(asking.get(PODS, { name: 'x' }))).message).toContain('larger than 2097152 bytes')
})
