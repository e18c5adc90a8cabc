/** What an apply said of its operations, from its events. */

import { CODES } from '../../../src/core/messages/codes.ts'
import { type ApplyEvent, OUTCOME_STATES } from '../../../src/core/plan/events.ts'
import type { Run } from '../../helpers/scene/volctl.ts'

const ENDS: ReadonlySet<string> = new Set(OUTCOME_STATES)

export function eventsOf({ stdout }: Run): ApplyEvent[] {
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as ApplyEvent]))
}

export function endEvents(run: Run): ApplyEvent[] {
  return eventsOf(run).filter(({ type }) => ENDS.has(type))
}

/** How each operation ended, sorted: `UnmountVolume pv-db: done`, `DetachVolume pv-old: refused HeldBy`. */
export function endsOf(run: Run): string[] {
  return endEvents(run)
    .map(({ type, kind, volume, code }) => `${kind} ${volume ?? '-'}: ${[type, code].filter(Boolean).join(' ')}`)
    .toSorted()
}

/** Failures that are not one clear line with a code of the catalogue and what to do next. */
export function unclearOf(run: Run): string[] {
  return eventsOf(run)
    .filter(({ type }) => ['failed', 'refused', 'blocked', 'note'].includes(type))
    .filter(
      ({ code, message, hint }) => !(code !== undefined && code in CODES) || !hint || /\n|\bError\b/.test(message),
    )
    .map(({ type, code, message, hint }) => `${type} ${code}: ${message} (${hint})`)
}
