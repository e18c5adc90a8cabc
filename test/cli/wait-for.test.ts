/** How often is looked, and when it ends; by a clock of the test's own. */
import { describe, expect, it } from 'vitest'
import { DEFAULT_TIMEOUT_MS, type Waited, waitFor } from '../../src/core/cli/wait-for.ts'
import { SafetyRefusal, VolctlError } from '../../src/core/errors/errors.ts'
import type { WaitCondition } from '../../src/core/status/wait-rows.ts'

/** As the real clock's: a look never takes whole milliseconds. */
const FRACTION_MS = 0.03

class Clock {
  ms = 0
  /** When the API server was asked, and the node read, in milliseconds. */
  readonly asked: number[] = []
  readonly read: number[] = []
  readonly limits: number[] = []
  interruptAt = Number.POSITIVE_INFINITY
  lookMs = 0
  fails: (whole: boolean) => void = () => undefined

  ports = {
    now: () => this.ms,
    pause: async (ms: number) => {
      expect(ms).toSatisfy(Number.isInteger)
      this.ms = Math.min(this.ms + ms, Math.max(this.ms, this.interruptAt))
    },
    interrupted: () => this.ms >= this.interruptAt,
    lookAtAll: async (limitMs: number) => {
      // Takes whole milliseconds only.
      AbortSignal.timeout(limitMs)
      this.limits.push(limitMs)
      return this.#look(this.asked, true)
    },
    lookAtDisk: async () => this.#look(this.read, false),
  }

  #look(list: number[], whole: boolean): void {
    list.push(Math.round(this.ms))
    this.ms += this.lookMs + FRACTION_MS
    this.fails(whole)
  }

  async wait(
    isReached: (ms: number) => boolean,
    { condition = 'unmounted' as WaitCondition, timeoutMs = DEFAULT_TIMEOUT_MS } = {},
  ): Promise<Waited> {
    const judge = (): boolean => isReached(this.ms)
    return await waitFor<void>({ condition, timeoutMs, first: undefined, firstMs: 0, judge }, this.ports)
  }
}

const never = (): boolean => false

describe('R472: as the kubelet', () => {
  it('the node every 300 ms, the API after 2, 4 and 8 s, then every 10 s, for 2 min 3 s', async () => {
    const clock = new Clock()
    const waited = await clock.wait(never)
    expect(waited).toMatchObject({ outcome: 'timedOut', waitedMs: 123_000 })
    expect(clock.read.slice(0, 4)).toEqual([300, 600, 900, 1200])
    expect(clock.asked.slice(0, 4).map((ms) => Math.floor(ms / 1000))).toEqual([2, 6, 14, 24])
    expect(clock.asked.length).toBe(13)
  })

  it('ends with the look that shows it', async () => {
    const clock = new Clock()
    const waited = await clock.wait((ms) => ms >= 700)
    expect(waited).toMatchObject({ outcome: 'reached', waitedMs: 900 })
    expect(clock.asked).toEqual([])
  })

  it('looks once more when the time is up', async () => {
    const clock = new Clock()
    const waited = await clock.wait((ms) => ms >= 1000, { timeoutMs: 1000 })
    expect(waited).toMatchObject({ outcome: 'reached', waitedMs: 1000 })
  })

  it.each([
    { reached: false, outcome: 'timedOut' },
    { reached: true, outcome: 'reached' },
  ])('--timeout 0 looks once: $outcome', async ({ reached, outcome }) => {
    const clock = new Clock()
    expect(await clock.wait(() => reached, { timeoutMs: 0 })).toMatchObject({ outcome, waitedMs: 0 })
    expect([...clock.read, ...clock.asked]).toEqual([])
  })
})

it('an interruption ends it', async () => {
  const clock = new Clock()
  clock.interruptAt = 450
  expect(await clock.wait(never)).toMatchObject({ outcome: 'interrupted', waitedMs: 450 })
})

it('where a look takes long, volctl rests four times as long', async () => {
  const clock = new Clock()
  clock.lookMs = 500
  await clock.wait(never, { timeoutMs: 6000 })
  // The last look is when the time is up.
  expect([...clock.read, ...clock.asked].toSorted((a, b) => a - b)).toEqual([300, 2801, 5302, 6000])
})

it('what is attached only the API server knows: the node is not read in between', async () => {
  const clock = new Clock()
  await clock.wait(never, { condition: 'detached', timeoutMs: 30_000 })
  expect(clock.asked).toEqual([2000, 6000, 14_000, 24_000])
  // The last look, when the time is up.
  expect(clock.read).toEqual([30_000])
})

it('in-sync is believed only of a look that asked the API server, which comes sooner then', async () => {
  const clock = new Clock()
  const waited = await clock.wait((ms) => ms > 7000, { condition: 'in-sync' })
  expect(waited.outcome).toBe('reached')
  expect(clock.asked.map((ms) => Math.floor(ms / 1000))).toEqual([2, 6, 8])
})

describe('a look that fails', () => {
  const away = (): never => {
    throw new VolctlError('ApiUnreachable', 'the API server is away')
  }

  it('is no end: the next one counts', async () => {
    const clock = new Clock()
    clock.fails = (whole) => (whole && clock.ms < 3000 ? away() : undefined)
    const waited = await clock.wait((ms) => ms > 5000)
    expect(waited).toMatchObject({ outcome: 'reached' })
    expect(waited.problem).toBeUndefined()
  })

  it('has a limit, so that the end is not late by much', async () => {
    const clock = new Clock()
    await clock.wait(never, { timeoutMs: 15_000 })
    // After 2, 6 and 14 seconds.
    expect(clock.limits).toEqual([10_000, 8700, 1000])
  })

  it('is said where it was the last', async () => {
    const clock = new Clock()
    clock.fails = away
    expect(await clock.wait(never, { timeoutMs: 3000 })).toMatchObject({ problem: 'the API server is away' })
  })

  it('S1: another cluster all of a sudden ends it', async () => {
    const clock = new Clock()
    clock.fails = () => {
      throw new SafetyRefusal('S1', 'WrongMachine', 'no node')
    }
    await expect(clock.wait(never)).rejects.toThrow('no node')
  })
})
