import { expect, it } from 'vitest'
import { inSeconds, rfc3339 } from '../../src/core/base/text.ts'

it('whole seconds, never before the moment', () => {
  expect(rfc3339(Date.UTC(2026, 10, 21, 12))).toBe('2026-11-21T12:00:00Z')
  expect(rfc3339(Date.UTC(2026, 10, 21, 12) + 1)).toBe('2026-11-21T12:00:01Z')
})

it('a time for a person has no fraction of a second, and a text that is no time stays', () => {
  expect(inSeconds('2026-11-21T12:00:00.123Z')).toBe('2026-11-21T12:00:00Z')
  expect(inSeconds('2026-11-21T12:00:00Z')).toBe('2026-11-21T12:00:00Z')
  expect(inSeconds('no time')).toBe('no time')
})
