import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Looking } from '../../src/core/cli/live-node.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

/** To the beginning of the line, and nothing stays below. */
const UP = '\r\u001b[0J'
let written = ''
const terminal = { columns: 80, write: (text: string) => (written += text) }

it('a look of more than a second is told in one line, which is erased', () => {
  written = ''
  let now = 0
  {
    using looking = new Looking(terminal, () => now)
    now = 900
    vi.advanceTimersByTime(500)
    expect(written).toBe('')
    now = 3000
    vi.advanceTimersByTime(500)
    expect(written).toBe('Reading the API server and this node: 3s')
    looking.instead(() => terminal.write('said'))
    expect(written.endsWith(`3s${UP}said`)).toBe(true)
    vi.advanceTimersByTime(500)
  }
  expect(written.endsWith(UP)).toBe(true)
  const before = written
  vi.advanceTimersByTime(5000)
  expect(written).toBe(before)
})

it('the line says what is read just now', () => {
  written = ''
  let now = 0
  using looking = new Looking(terminal, () => now)
  looking.reads('the cluster, 500 pods')
  now = 2000
  vi.advanceTimersByTime(500)
  looking.reads('the cluster, 1000 pods')
  now = 3000
  vi.advanceTimersByTime(500)
  expect(written).toBe(`Reading the cluster, 500 pods: 2s${UP}Reading the cluster, 1000 pods: 3s`)
})

it('nothing is written where standard error is no terminal, or the look is quick', () => {
  written = ''
  {
    using _ = new Looking(undefined)
    vi.advanceTimersByTime(5000)
  }
  {
    using _ = new Looking(terminal, () => 0)
    vi.advanceTimersByTime(5000)
  }
  expect(written).toBe('')
})
