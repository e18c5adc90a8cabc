import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type Shown, type WatchPorts, watch } from '../../src/core/cli/look-again.ts'
import { SafetyRefusal, VolctlError } from '../../src/core/messages/findings.ts'
import { timePasses } from '../helpers/time-passes.ts'
import { anOperation, aPlan } from './plan-builder.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

/** @param stands what the plan has, whatever the text says */
const shown = (text: string, isOver = false, stands = text): Shown => {
  const waiting = { kind: 'UnmountVolume', code: 'Settling', message: stands, rule: 'S11' } as const
  return { text: `${text}\n`, plan: aPlan({ waiting: isOver ? [] : [waiting] }) }
}

interface Watched {
  readonly over: boolean | string
  readonly written: string
  readonly drawn: string
  /** Most that were at work at once. */
  readonly most: number
}

/** One look after the other, each a thing to show or to throw; after the last one somebody presses Ctrl-C. */
async function watched(looks: readonly (Shown | Error)[], { terminal = false, rows = 24 } = {}): Promise<Watched> {
  let [count, busy, most, written, drawn] = [0, 0, 0, '', '']
  const stop = new AbortController()
  const ports: WatchPorts = {
    look: async () => {
      most = Math.max(most, ++busy)
      await Promise.resolve()
      busy--
      const next = looks[count++] as Shown | Error
      if (count === looks.length) stop.abort()
      if (next instanceof Error) throw next
      return next
    },
    write: (text) => {
      written += text
    },
    terminal: terminal ? { columns: 80, rows, write: (text) => (drawn += text) } : undefined,
    signal: stop.signal,
  }
  const over = await timePasses(watch(ports).catch((error: Error) => error.message))
  return { over, written, drawn, most }
}

it('ends when nothing is left', async () => {
  const { over, written, most } = await watched([shown('a: waits\nb: ready'), shown('b: ready'), shown('', true)])
  expect(over).toBe(true)
  expect(written).toBe('a: waits\nb: ready\nb: ready\n\n')
  expect(most).toBe(1)
})

it('without a terminal only what has changed is printed', async () => {
  const looks = [shown('a: waits\nb: ready'), shown('a: waits\nb: ready'), shown('a: ready\nb: ready')]
  expect(await watched(looks)).toMatchObject({ over: false, written: 'a: waits\nb: ready\na: ready\nb: ready\n' })
})

it('a time that runs is no change: it is not printed again, and the looks become rarer', async () => {
  const looks = Array.from({ length: 6 }, (_, n) => shown(`${87 - n} s more`, false, 'waits'))
  const begin = performance.now()
  expect(await watched(looks)).toMatchObject({ over: false, written: '87 s more\n' })
  expect(performance.now() - begin).toBeGreaterThan(30_000)
})

it('a plan is another answer where something stands otherwise, not where only the look is another', async () => {
  const plan = aPlan({ complete: false })
  const api = { ...plan.inputs.api, resourceVersion: '4712' }
  const kubelet = { ...plan.inputs.kubelet, note: 'renewed 3 s ago' }
  const later = { ...plan, createdAt: '2026-11-22T09:00:00Z', inputs: { ...plan.inputs, api, kubelet } }
  const other = { ...plan, operations: [anOperation()] }
  const looks = [plan, later, other].map((each, n) => ({ plan: each, text: `${n}\n` }))
  expect(await watched(looks)).toMatchObject({ over: false, written: '0\n2\n' })
})

it('a terminal is drawn in place, and keeps the last answer', async () => {
  const { drawn, written } = await watched([shown('a: waits\nb: ready'), shown('b: ready', true)], { terminal: true })
  expect(drawn).toBe('a: waits\nb: ready\n\u001b[2A\r\u001b[0Jb: ready\n\u001b[1A\r\u001b[0J')
  expect(written).toBe('b: ready\n')
})

it('what a terminal has no rows for is counted', async () => {
  const text = Array.from({ length: 20 }, (_, n) => `${n}: x`).join('\n')
  const { drawn, written } = await watched([shown(text, true)], { terminal: true, rows: 6 })
  expect(drawn).toMatch(/^0: x\n1: x\n2: x\n… 17 more lines\n/)
  expect(written).toBe(`${text}\n`)
})

it('a later look that fails is told, and the next one is taken', async () => {
  const error = new VolctlError({ code: 'ApiUnreachable', message: 'no answer' })
  const { over, written } = await watched([shown('a: x'), error, shown('a: y', true)])
  expect([over, written]).toEqual([true, 'a: x\nThe last look failed: no answer\na: y\n'])
})

it.each([
  {
    name: 'the first look',
    looks: [new VolctlError({ code: 'ApiUnreachable', message: 'no answer' }), shown('a: x')],
    says: 'no answer',
  },
  {
    name: 'another node',
    looks: [shown('a: x'), new SafetyRefusal('S1', { code: 'OtherNode', message: 'another node' }), shown('a: x')],
    says: 'another node',
  },
])('$name ends it', async ({ looks, says }) => expect((await watched(looks)).over).toBe(says))
