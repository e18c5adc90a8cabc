import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { WaitingBudget } from '../../src/core/rules/machine-facts.ts'

describe('what one operation may wait (--timeout)', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
  afterEach(() => void vi.useRealTimers())
  const work = (takesMs: number) => void vi.advanceTimersByTime(takesMs)

  function budget(limitMs: number) {
    const waiting = new WaitingBudget(limitMs)
    const call = (takesMs: number) =>
      waiting.spend(async (ms) => {
        work(takesMs)
        return ms
      })
    return { waiting, call }
  }

  it('is shared by all its calls, and its own work does not count', async () => {
    const { call } = budget(100)
    expect(await call(30)).toBe(100)
    work(1000)
    expect(await call(60)).toBe(70)
    expect(await call(0)).toBe(10)
  })

  it('is over when nothing is left: no further call is made', async () => {
    const { waiting, call } = budget(100)
    await call(100)
    expect(waiting.isSpent).toBe(true)
    await expect(waiting.spend(() => Promise.reject(new Error('called')))).rejects.toMatchObject({ code: 'TimedOut' })
  })
})
