import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { watched } from '../../src/core/cli/live-node.ts'

let written = ''
const terminal = { columns: 80, write: (text: string) => (written += text) }
beforeEach(() => {
  written = ''
  vi.useFakeTimers()
})
afterEach(() => vi.useRealTimers())

/** To the beginning of the line, and nothing stays below. */
const UP = '\r\u001b[0J'
const say = (text: string): void => {
  terminal.write(text)
}

it('a look of more than a second is told in one line, which says what is read, and is erased', async () => {
  await watched(
    say,
    async (log, reads) => {
      vi.advanceTimersByTime(900)
      expect(written).toBe('')
      vi.advanceTimersByTime(2100)
      expect(written.endsWith('Reading the API server and this node: 3s')).toBe(true)
      log('said')
      expect(written.endsWith(`3s${UP}said`)).toBe(true)
      reads('the cluster, 500 pods')
      vi.advanceTimersByTime(1000)
      expect(written.endsWith('Reading the cluster, 500 pods: 4s')).toBe(true)
    },
    terminal,
  )
  expect(written.endsWith(UP)).toBe(true)
  const before = written
  vi.advanceTimersByTime(5000)
  expect(written).toBe(before)
})

it('nothing is written where the look is quick', async () => {
  await watched(say, async () => vi.advanceTimersByTime(900), terminal)
  expect(written).toBe('')
})
