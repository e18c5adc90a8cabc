/** How often is looked, and when it ends; by a clock of the test's own. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { lookAgain } from '../../src/core/cli/look-again.ts'
import { SafetyRefusal, VolctlError } from '../../src/core/messages/findings.ts'
import { timePasses } from '../helpers/time-passes.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const DEFAULT_TIMEOUT_MS = 123_000

/** As the real clock's: a look never takes whole milliseconds. */
const FRACTION_MS = 0.03

class Clock {
  /** When it was looked, in milliseconds. */
  readonly looks: number[] = []
  readonly limits: number[] = []
  interruptAt: number | undefined
  lookMs = 0
  fails: () => void = () => undefined

  async wait(isReached: (ms: number) => boolean, { timeoutMs = DEFAULT_TIMEOUT_MS } = {}) {
    const stop = new AbortController()
    if (this.interruptAt !== undefined) setTimeout(() => stop.abort(), this.interruptAt)
    const began = performance.now()
    const passed = (): number => performance.now() - began
    let problem: string | undefined
    const look = async (limitMs?: number) => {
      if (limitMs === undefined) return 'same'
      // Takes whole milliseconds only.
      AbortSignal.timeout(limitMs)
      this.limits.push(limitMs)
      this.looks.push(Math.round(passed()))
      vi.advanceTimersByTime(this.lookMs + FRACTION_MS)
      this.fails()
      problem = undefined
      return isReached(passed()) ? 'over' : 'same'
    }
    const failed = (message: string): void => {
      problem = message
    }
    const outcome = await timePasses(lookAgain({ timeoutMs, look, failed, signal: stop.signal }))
    return { outcome, waitedMs: Math.round(passed()), problem }
  }
}

const never = (): boolean => false

describe('how often', () => {
  it('after 2, 4 and 8 s, then every 10 s, for 2 min 3 s as the kubelet (R472)', async () => {
    const clock = new Clock()
    const waited = await clock.wait(never)
    expect(waited).toMatchObject({ outcome: 'timedOut', waitedMs: 123_000 })
    expect(clock.looks.slice(0, 4).map((ms) => Math.floor(ms / 1000))).toEqual([2, 6, 14, 24])
    expect(clock.looks.length).toBe(14)
  })

  it('ends with the look that shows it', async () => {
    const clock = new Clock()
    const waited = await clock.wait((ms) => ms >= 4000)
    expect(waited).toMatchObject({ outcome: 'over', waitedMs: 6000 })
    expect(clock.looks).toEqual([2000, 6000])
  })

  it('looks once more when the time is up', async () => {
    const clock = new Clock()
    const waited = await clock.wait((ms) => ms >= 1000, { timeoutMs: 1000 })
    expect(waited).toMatchObject({ outcome: 'over', waitedMs: 1000 })
  })

  it('--timeout 0 looks no more', async () => {
    const clock = new Clock()
    expect(await clock.wait(() => true, { timeoutMs: 0 })).toMatchObject({ outcome: 'timedOut', waitedMs: 0 })
    expect(clock.looks).toEqual([])
  })
})

it('an interruption ends it', async () => {
  const clock = new Clock()
  clock.interruptAt = 450
  expect(await clock.wait(never)).toMatchObject({ outcome: 'interrupted', waitedMs: 450 })
})

it('where a look takes long, volctl rests four times as long', async () => {
  const clock = new Clock()
  clock.lookMs = 3000
  await clock.wait(never, { timeoutMs: 20_000 })
  expect(clock.looks).toEqual([2000, 17_001])
})

describe('a look that fails', () => {
  const away = (): never => {
    throw new VolctlError({ code: 'ApiUnreachable', message: 'the API server is away' })
  }

  it('is no end: the next one counts', async () => {
    const clock = new Clock()
    clock.fails = () => (clock.looks.length === 1 ? away() : undefined)
    const waited = await clock.wait((ms) => ms > 5000)
    expect(waited).toMatchObject({ outcome: 'over' })
    expect(waited.problem).toBeUndefined()
  })

  it('has a limit, so that the end is not late by much', async () => {
    const clock = new Clock()
    await clock.wait(never, { timeoutMs: 15_000 })
    // After 2, 6, 14 and 15 seconds.
    expect(clock.limits).toEqual([10_000, 9000, 1000, 1000])
  })

  it('is said where it was the last', async () => {
    const clock = new Clock()
    clock.fails = away
    expect(await clock.wait(never, { timeoutMs: 3000 })).toMatchObject({ problem: 'the API server is away' })
  })

  it('S1: another cluster all of a sudden ends it', async () => {
    const clock = new Clock()
    clock.fails = () => {
      throw new SafetyRefusal('S1', { code: 'WrongMachine', message: 'no node' })
    }
    await expect(clock.wait(never)).rejects.toThrow('no node')
  })
})
