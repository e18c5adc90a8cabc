import { describe, expect, it } from 'vitest'
import { WaitingBudget } from '../../src/core/rules/machine-facts.ts'

describe('what one operation may wait (--timeout)', () => {
  function budget(limitMs: number) {
    let clock = 0
    const waiting = new WaitingBudget(limitMs, () => clock)
    const call = (takesMs: number) =>
      waiting.spend(async (ms) => {
        clock += takesMs
        return ms
      })
    const work = (takesMs: number) => {
      clock += takesMs
    }
    return { waiting, call, work }
  }

  it('is shared by all its calls, and its own work does not count', async () => {
    const { call, work } = budget(100)
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
