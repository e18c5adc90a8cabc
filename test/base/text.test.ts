import { expect, it } from 'vitest'
import { firstCharacters, formatDuration, inSeconds, rfc3339, tally } from '../../src/core/base/text.ts'
import { parseDuration } from '../../src/core/cli/options.ts'

it.each([
  ['90s', 90_000],
  ['1h30m', 5_400_000],
  ['1.5m', 90_000],
  ['500ms', 500],
  ['0', 0],
])('%s is %i ms', (text, ms) => expect(parseDuration(text, '--settle')).toBe(ms))

it.each(['', '2', 'm', '2 m', '-2m', '2mx', '1d', 'two minutes', '2m;'])('"%s" is no duration', (text) => {
  const args = { flag: '--settle', text, form: 'a duration' }
  const message = `--settle: "${text}" is not a duration.`
  expect(() => parseDuration(text, '--settle')).toThrow(expect.objectContaining({ code: 'Usage', message, args }))
})

it.each([
  [0, '0ms'],
  [850, '850ms'],
  [12_400, '12s'],
  [90_000, '1m30s'],
  [120_000, '2m'],
  [7_500_000, '2h5m'],
])('%i ms reads %s', (ms, text) => expect(formatDuration(ms)).toBe(text))

it('whole seconds, never before the moment', () => {
  expect(rfc3339(Date.UTC(2026, 10, 21, 12))).toBe('2026-11-21T12:00:00Z')
  expect(rfc3339(Date.UTC(2026, 10, 21, 12) + 1)).toBe('2026-11-21T12:00:01Z')
})

it('a time for a person has no fraction of a second, and a text that is no time stays', () => {
  expect(inSeconds('2026-11-21T12:00:00.123Z')).toBe('2026-11-21T12:00:00Z')
  expect(inSeconds('no time')).toBe('no time')
})

it.each<[readonly string[], readonly string[] | undefined, string]>([
  [[], undefined, ''],
  [['b', 'a', 'b'], undefined, '2 b, 1 a'],
  [['b', 'a', 'b'], ['a', 'b', 'c'], '1 a, 2 b'],
  // A driver of flexVolume may have any name.
  [['constructor', '__proto__', 'constructor'], undefined, '2 constructor, 1 __proto__'],
])('%j in the order of %j: %j', (all, order, text) => expect(tally(all, order)).toBe(text))

it.each([
  ['abc', 3, 'abc'],
  ['abcd', 3, 'abc… (1 more characters)'],
  ['ab\u{1f4be}', 3, 'ab\ufffd… (1 more characters)'],
])('%j, at most %i characters: %j', (text, most, shown) => expect(firstCharacters(text, most)).toBe(shown))
