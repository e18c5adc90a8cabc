import { expect, it } from 'vitest'
import { timeLimits } from '../../../src/core/apply/kubelet-stop/plan-stop.ts'

const s = (seconds: number): number => seconds * 1000
const asked = (max: number, settle: number, timeout?: number) => ({
  maxMs: s(max),
  settleMs: s(settle),
  timeoutMs: timeout === undefined ? undefined : s(timeout),
  defaultTimeoutMs: s(120),
})

it.each([
  { name: 'by default a quarter of the time after the wait', given: asked(240, 120), limits: [30, 5] },
  { name: 'of little time, little for the start', given: asked(9, 1), limits: [2, 1] },
  { name: '--timeout as it is given', given: asked(240, 120, 20), limits: [20, 5] },
])('S35: $name', ({ given, limits: [operation = 0, start = 0] }) => {
  expect(timeLimits(given)).toEqual({ operationMs: s(operation), startMs: s(start) })
})

it.each([
  { given: asked(120, 120), says: '--max-downtime 2m leaves no time for an operation: volctl waits 2m first' },
  { given: asked(240, 120, 120), says: 'and one may take 2m (--timeout)' },
])('S35: where nothing could end in time, nothing is stopped: $says', ({ given, says }) => {
  expect(() => timeLimits(given)).toThrow(says)
})
