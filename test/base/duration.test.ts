import { expect, it } from 'vitest'
import { formatDuration } from '../../src/core/base/text.ts'
import { parseDuration } from '../../src/core/cli/options.ts'

it.each([
  ['90s', 90_000],
  ['2m', 120_000],
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
