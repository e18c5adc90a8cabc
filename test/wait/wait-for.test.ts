/** How often is looked, and when it ends; by a clock of the test's own. */
import { describe, expect, it } from 'vitest'
import schema from '../../schema/wait.schema.json' with { type: 'json' }
import { SafetyRefusal, VolctlError } from '../../src/core/errors/errors.ts'
import type { NodeState } from '../../src/core/model/node-state.ts'
import { DEFAULT_TIMEOUT_MS, type Waited, waitFor } from '../../src/core/wait/wait-for.ts'
import type { WaitCondition, WaitedTarget, WaitResult } from '../../src/core/wait/wait-result.ts'
import { schemaCheck } from '../helpers/closed-schema.ts'
import { node } from '../helpers/node-builder.ts'

const STATE = node().build()
type State = WaitedTarget['state']

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

  #look(list: number[], whole: boolean): NodeState {
    list.push(Math.round(this.ms))
    this.ms += this.lookMs + FRACTION_MS
    this.fails(whole)
    return STATE
  }

  /** @param stateAt of the one target, by the time */
  async wait(
    stateAt: (ms: number) => State,
    { condition = 'unmounted' as WaitCondition, timeoutMs = DEFAULT_TIMEOUT_MS } = {},
  ): Promise<Waited> {
    const judge = (): WaitedTarget[] => [{ name: 'pod/a/b', state: stateAt(this.ms), message: 'x' }]
    return await waitFor({ condition, timeoutMs, first: STATE, judge }, this.ports)
  }
}

describe('R472: as the kubelet', () => {
  it('the node every 300 ms, the API after 2, 4 and 8 s, then every 10 s, for 2 min 3 s', async () => {
    const clock = new Clock()
    const waited = await clock.wait(() => 'pending')
    expect(waited).toMatchObject({ outcome: 'timedOut', waitedMs: 123_000 })
    expect(clock.read.slice(0, 4)).toEqual([300, 600, 900, 1200])
    expect(clock.asked.slice(0, 4).map((ms) => Math.floor(ms / 1000))).toEqual([2, 6, 14, 24])
    expect(clock.asked.length).toBe(13)
    expect(waited.looks).toEqual({ api: 14, node: clock.asked.length + clock.read.length + 1 })
  })

  it('ends with the look that shows it', async () => {
    const clock = new Clock()
    const waited = await clock.wait((ms) => (ms >= 700 ? 'reached' : 'pending'))
    expect(waited).toMatchObject({ outcome: 'reached', waitedMs: 900, targets: [{ state: 'reached' }] })
    expect(clock.asked).toEqual([])
  })

  it('looks once more when the time is up', async () => {
    const clock = new Clock()
    const waited = await clock.wait((ms) => (ms >= 1000 ? 'reached' : 'pending'), { timeoutMs: 1000 })
    expect(waited).toMatchObject({ outcome: 'reached', waitedMs: 1000 })
  })

  it.each([
    { state: 'pending' as const, outcome: 'timedOut' },
    { state: 'reached' as const, outcome: 'reached' },
    { state: 'impossible' as const, outcome: 'impossible' },
  ])('--timeout 0 looks once: $outcome', async ({ state, outcome }) => {
    const clock = new Clock()
    expect(await clock.wait(() => state, { timeoutMs: 0 })).toMatchObject({ outcome, waitedMs: 0 })
    expect([...clock.read, ...clock.asked]).toEqual([])
  })
})

it('what cannot be reached any more ends at once', async () => {
  const clock = new Clock()
  const waited = await clock.wait((ms) => (ms > 0 ? 'impossible' : 'pending'))
  expect(waited).toMatchObject({ outcome: 'impossible', waitedMs: 300 })
})

it('of several, each has its time', async () => {
  const clock = new Clock()
  const judge = (): WaitedTarget[] => [
    { name: 'pod/a/b', state: 'impossible', message: '' },
    { name: 'pod/a/c', state: clock.ms > 1000 ? 'reached' : 'pending', message: '' },
  ]
  const plan = { condition: 'mounted' as const, timeoutMs: 5000, first: STATE, judge }
  expect(await waitFor(plan, clock.ports)).toMatchObject({ outcome: 'impossible', waitedMs: 1200 })
})

it('an interruption ends it', async () => {
  const clock = new Clock()
  clock.interruptAt = 450
  expect(await clock.wait(() => 'pending')).toMatchObject({ outcome: 'interrupted', waitedMs: 450 })
})

it('where a look takes long, volctl rests four times as long', async () => {
  const clock = new Clock()
  clock.lookMs = 500
  await clock.wait(() => 'pending', { timeoutMs: 6000 })
  // The last look is when the time is up.
  expect([...clock.read, ...clock.asked].toSorted((a, b) => a - b)).toEqual([300, 2801, 5302, 6000])
})

it('what is attached only the API server knows: the node is not read in between', async () => {
  const clock = new Clock()
  await clock.wait(() => 'pending', { condition: 'detached', timeoutMs: 30_000 })
  expect(clock.asked).toEqual([2000, 6000, 14_000, 24_000])
  // The last look, when the time is up.
  expect(clock.read).toEqual([30_000])
})

it('in-sync is believed only of a look that asked the API server, which comes sooner then', async () => {
  const clock = new Clock()
  const waited = await clock.wait((ms) => (ms > 7000 ? 'reached' : 'pending'), { condition: 'in-sync' })
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
    const waited = await clock.wait((ms) => (ms > 5000 ? 'reached' : 'pending'))
    expect(waited).toMatchObject({ outcome: 'reached' })
    expect(waited.problem).toBeUndefined()
  })

  it('has a limit, so that the end is not late by much', async () => {
    const clock = new Clock()
    await clock.wait(() => 'pending', { timeoutMs: 15_000 })
    // After 2, 6 and 14 seconds.
    expect(clock.limits).toEqual([10_000, 8700, 1000])
  })

  it('is said where it was the last', async () => {
    const clock = new Clock()
    clock.fails = away
    expect(await clock.wait(() => 'pending', { timeoutMs: 3000 })).toMatchObject({ problem: 'the API server is away' })
  })

  it('S1: another cluster all of a sudden ends it', async () => {
    const clock = new Clock()
    clock.fails = () => {
      throw new SafetyRefusal('S1', 'WrongMachine', 'no node')
    }
    await expect(clock.wait(() => 'pending')).rejects.toThrow('no node')
  })
})

it('the answer has the shape of its schema', async () => {
  const waited = await new Clock().wait(() => 'pending', { timeoutMs: 1000 })
  const result: WaitResult = {
    apiVersion: 'volctl.io/v1',
    kind: 'Wait',
    node: 'node-1',
    for: 'unmounted',
    timeoutMs: 1000,
    ...waited,
    targets: [
      {
        name: 'pod/a/b',
        pod: { namespace: 'a', name: 'b', uid: 'u' },
        volume: 'v',
        state: 'pending',
        message: 'm',
        why: 'w',
        unmounted: ['a'],
        unattached: [],
        failedToProcess: [],
        mounted: [],
        attached: [],
      },
    ],
    problem: 'p',
  }
  const defects = schemaCheck(schema)
  expect(defects(result)).toEqual([])
  expect(defects({ ...result, extra: 1 })).not.toEqual([])
})
