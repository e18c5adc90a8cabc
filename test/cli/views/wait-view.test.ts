/** Lines of `volctl wait`, at 80 columns, and in a pipe. */
import { expect, it } from 'vitest'
import { PLAIN_SCREEN } from '../../../src/core/views/screen.ts'
import { notReachedText, renderWaited, waitingText } from '../../../src/core/views/wait-view.ts'
import type { WaitedTarget, WaitResult } from '../../../src/core/wait/wait-result.ts'

const NARROW = { ...PLAIN_SCREEN, width: 80, rows: 24 }

const reached: WaitedTarget = { name: 'pod/shop/web-0', state: 'reached', message: 'all volumes are mounted' }
const pending: WaitedTarget = {
  name: 'pod/shop/web-1',
  state: 'pending',
  message: 'unmounted volumes=[data], unattached volumes=[data], failed to process volumes=[cache]',
  why: 'claim shop/cache is not bound',
}
const impossible: WaitedTarget = { name: 'pod/shop/job-x', state: 'impossible', message: 'the pod has ended (Failed)' }

function result(outcome: WaitResult['outcome'], ...targets: WaitedTarget[]): WaitResult {
  const looks = { api: 1, node: 1 }
  const times = { waitedMs: 123_000, timeoutMs: 123_000 }
  return { apiVersion: 'volctl.io/v1', kind: 'Wait', node: 'n', for: 'mounted', outcome, ...times, looks, targets }
}

it('a line for each, wrapped on a terminal', () => {
  const lines = [reached, pending, impossible].map((target) => renderWaited(target, 'mounted', NARROW)).join('')
  expect(lines).toMatchInlineSnapshot(`
    "+ pod/shop/web-0: mounted
    x pod/shop/web-1: not mounted: unmounted volumes=[data], unattached
      volumes=[data], failed to process volumes=[cache]: claim shop/cache is not
      bound
    x pod/shop/job-x: not mounted: the pod has ended (Failed)
    "
  `)
  for (const line of lines.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
})

it('a line stays whole in a pipe', () =>
  expect(renderWaited(pending, 'mounted', PLAIN_SCREEN).split('\n')).toHaveLength(2))

it.each([
  {
    given: result('timedOut', reached, pending),
    text: 'timed out after 2m3s: pod/shop/web-1 is not mounted',
  },
  {
    given: result('impossible', impossible),
    text: 'pod/shop/job-x is not mounted, and will not be',
  },
  {
    given: { ...result('timedOut', pending, impossible), problem: 'no answer' },
    text: 'timed out after 2m3s: 2 of 2 are not mounted; the last look failed: no answer',
  },
])('$text', ({ given, text }) => expect(notReachedText(given)).toBe(text))

it('what is waited for is said at the beginning', () =>
  expect(waitingText([reached, pending], 'in-sync', 123_000)).toBe(
    'waiting up to 2m3s for pod/shop/web-1 to be in sync (pod/shop/web-1: unmounted volumes=[data], unattached volumes=[data], failed to process volumes=[cache])',
  ))
