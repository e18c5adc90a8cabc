import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { afterSettling, type Waiter } from '../../src/core/cli/after-settling.ts'
import type { Plan, Waiting } from '../../src/core/plan/plan.ts'
import { timePasses } from '../helpers/time-passes.ts'

beforeEach(() => vi.useFakeTimers({ now: Date.parse('2026-03-01T10:00:00Z') }))
afterEach(() => vi.useRealTimers())

const wait = (code: Waiting['code'], until?: string): Waiting => ({
  ...{ kind: 'UnmountDevice', code, message: 'm', rule: 'S11' },
  until,
})
const planWith = (state: 'stopped' | 'running', ...waiting: readonly Waiting[]): Plan =>
  ({ waiting, inputs: { kubelet: { state } } }) as Partial<Plan> as Plan
const planOf = (...waiting: readonly Waiting[]): Plan => planWith('stopped', ...waiting)
const SOON = '2026-03-01T10:00:07Z'

/** Looks one after another; the kubelet is back from some question on. */
async function waited(
  plans: readonly Plan[],
  { backAfter = Number.POSITIVE_INFINITY, ...more }: Partial<Waiter<{ plan: Plan }>> & { backAfter?: number } = {},
): Promise<{ looks: number; ms: number; said: string[]; drawn: string[] }> {
  const said: string[] = []
  const drawn: string[] = []
  const began = Date.now()
  let [asked, looked] = [0, 0]
  const again = async () => ({ plan: plans[looked++] ?? planOf() })
  const ending = afterSettling(await again(), {
    again,
    kubeletIsBack: async () => ++asked > backAfter,
    signal: new AbortController().signal,
    begins: (left) => said.push(left),
    terminal: { columns: 80, write: (text) => drawn.push(text.replaceAll('\r\u001b[0J', '')) },
    ...more,
  })
  await timePasses(ending)
  return { looks: looked, ms: Date.now() - began, said, drawn }
}

it.each([
  { name: 'nothing waits for the settle time', plan: planOf(wait('KubeletRunning')) },
  { name: 'nothing shows when the kubelet stopped', plan: planOf(wait('Settling')) },
  { name: 'what settles is a pod beside a kubelet that runs', plan: planWith('running', wait('Settling', SOON)) },
])('answers at once where $name', async ({ plan }) => {
  expect(await waited([plan])).toEqual({ looks: 1, ms: 0, said: [], drawn: [] })
})

it('counts down to the end of the settle time, and looks again', async () => {
  const { drawn, ...waiting } = await waited([planOf(wait('Settling', SOON))])
  expect(waiting).toEqual({ looks: 2, ms: 7000, said: ['7s'] })
  expect([...new Set(drawn)].filter((line) => line !== '')).toEqual(
    [7, 6, 5, 4, 3, 2, 1].map((s) => `Waiting for the kubelet's last calls: ${s}s left`),
  )
})

it('waits once more where the second look still does', async () => {
  const plans = [SOON, '2026-03-01T10:00:09Z'].map((until) => planOf(wait('Settling', until)))
  expect(await waited(plans)).toMatchObject({ looks: 3, ms: 9000, said: ['7s', '2s'] })
})

it('a kubelet that comes back ends the wait', async () => {
  const plans = [planOf(wait('Settling', '2026-03-01T10:01:00Z')), planOf(wait('KubeletRunning'))]
  expect(await waited(plans, { backAfter: 1 })).toMatchObject({ looks: 2, ms: 10_000 })
})

it('waits for nothing that ends too late', async () => {
  const plan = planOf(wait('Settling', SOON))
  expect(await waited([plan], { until: Date.parse(SOON) - 1 })).toMatchObject({ looks: 1, ms: 0 })
})

it('Ctrl-C ends the wait', async () => {
  const plan = planOf(wait('Settling', SOON))
  expect(await waited([plan], { signal: AbortSignal.abort() })).toMatchObject({ looks: 1, ms: 0 })
})
