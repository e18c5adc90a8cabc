/** `volctl wait` on a screen: a line for each pod or volume, as soon as its end is known. */

import { formatDuration } from '../lang/duration.ts'
import type { WaitCondition, WaitedTarget, WaitResult } from '../wait/wait-result.ts'
import type { Screen } from './screen.ts'
import { wrapped } from './wrap.ts'

const WORDS: Readonly<Record<WaitCondition, string>> = {
  mounted: 'mounted',
  unmounted: 'unmounted',
  detached: 'detached',
  'in-sync': 'in sync',
}

export function renderWaited(target: WaitedTarget, condition: WaitCondition, screen: Screen): string {
  const { paint, symbols, width } = screen
  const { name, state, message, why } = target
  const isReached = state === 'reached'
  const sign = isReached ? symbols.good : symbols.bad
  const word = isReached ? WORDS[condition] : `not ${WORDS[condition]}: ${message}`
  const text = why === undefined || isReached ? word : `${word}: ${why}`
  return wrapped(`${sign} `, `${name}: ${text}`, width, isReached ? paint.good : paint.bad)
}

/** What is said at the beginning, for as long as nothing is reached. */
export function waitingText(targets: readonly WaitedTarget[], condition: WaitCondition, timeoutMs: number): string {
  const open = targets.filter(({ state }) => state === 'pending')
  const [first] = open
  const what = open.length === 1 ? first?.name : `${open.length} of ${targets.length}`
  return `waiting up to ${formatDuration(timeoutMs)} for ${what} to be ${WORDS[condition]} (${first?.name}: ${first?.message})`
}

/** What the error says. */
export function notReachedText({ outcome, targets, for: condition, waitedMs, problem }: WaitResult): string {
  const missing = targets.filter(({ state }) => state !== 'reached')
  const [first] = missing
  const which = missing.length === 1 ? `${first?.name} is` : `${missing.length} of ${targets.length} are`
  const text = `${which} not ${WORDS[condition]}`
  const last = problem === undefined ? '' : `; the last look failed: ${problem}`
  return outcome === 'impossible'
    ? `${text}, and will not be${last}`
    : `timed out after ${formatDuration(waitedMs)}: ${text}${last}`
}

export function reachedText({ targets, for: condition, waitedMs }: WaitResult): string {
  const [first] = targets
  const which = targets.length === 1 ? `${first?.name} is` : `all ${targets.length} are`
  return `${which} ${WORDS[condition]}, after ${formatDuration(waitedMs)}`
}
