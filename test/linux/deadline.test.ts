/** Times are measured in fractions of a millisecond; timers take whole ones, and some throw where they get anything else. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { ApiError } from '../../src/core/kube/api-error.ts'
import { retryDelayMs } from '../../src/core/kube/retry.ts'
import { inTime, pause } from '../../src/core/linux/deadline.ts'
import { deadlineIn } from '../../src/core/rpc/grpc-status.ts'
import { runCommand } from '../../src/core/trust/programs.ts'

const asked: unknown[] = []

beforeEach(() => {
  asked.length = 0
  const real = globalThis.setTimeout
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((call: () => void, ms?: number) => {
    asked.push(ms)
    return real(call, ms)
  }) as typeof setTimeout)
})
afterEach(() => {
  vi.restoreAllMocks()
})

it.each([
  { what: 'a pause', start: () => pause(2.97), ms: 3 },
  { what: 'a deadline', start: () => inTime(Promise.resolve(), 2997.97, () => new Error('late')), ms: 2998 },
  { what: 'a program', start: () => runCommand('true', [], 2997.97), ms: 2998 },
])('$what: whole milliseconds, never less than asked for', async ({ start, ms }) => {
  await start()
  expect(asked).toContain(ms)
  expect(asked.filter((each) => typeof each === 'number' && !Number.isInteger(each))).toEqual([])
})

it('what is left until a deadline, and until a request is repeated', () => {
  vi.spyOn(performance, 'now').mockReturnValueOnce(1000.4).mockReturnValueOnce(1002.43)
  expect(deadlineIn(3000).remainingMs()).toBe(2998)
  const busy = new ApiError({ code: 'ApiFailed', message: 'busy' }, { status: 503, reason: 'x', hint: '' })
  const again = (random: number): number => retryDelayMs(busy, 1, () => random)
  expect([0.123, 0.777].map(again)).toEqual([112, 178])
  const told = new ApiError(
    { code: 'ApiFailed', message: 'busy' },
    { status: 429, reason: 'x', hint: '', retryAfter: 0.0015 },
  )
  expect(retryDelayMs(told, 0)).toBe(2)
})
