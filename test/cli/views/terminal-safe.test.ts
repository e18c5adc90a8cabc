import { expect, it } from 'vitest'
import { errorText } from '../../../src/core/cli/report-error.ts'
import { VolctlError } from '../../../src/core/errors.ts'
import { PLAIN } from '../../../src/core/views/palette.ts'
import { renderTable } from '../../../src/core/views/render-table.ts'
import { toJson } from '../../../src/core/views/structured.ts'
import { terminalSafe } from '../../../src/core/views/terminal-safe.ts'

it.each([
  ['colour', '\u001b[31mred', '\\x1b[31mred'],
  ['title', '\u001b]0;x\u0007', '\\x1b]0;x\\x07'],
  ['C1 control sequence introducer', '\u009b2J', '\\x9b2J'],
  ['right-to-left override', 'a\u202eb', 'a\\u202eb'],
  ['zero-width', 'a\u200bb', 'a\\u200bb'],
  ['newline and tab', 'a\nb\tc\r', 'a\\nb\\tc\\r'],
  ['letters of any script stay', 'größe-数据', 'größe-数据'],
])('%s', (_, text, safe) => expect(terminalSafe(text)).toBe(safe))

it('a table cannot be broken by a name', () =>
  expect(renderTable(['A'], [['x\u001b[2J\ny']])).toBe('A\nx\\x1b[2J\\ny\n'))

it('an error cannot either', () =>
  expect(errorText(new VolctlError('X', 'bad \u001b[2J\nname'), false, PLAIN)).toBe('volctl: bad \\x1b[2J\\nname\n'))

it('JSON stays the same value', () => {
  const value = { name: 'a\u009b\u202e\u007f\u001b\nb', list: [1] }
  const json = toJson(value)
  expect(JSON.parse(json)).toEqual(value)
  expect(json).toBe('{\n  "name": "a\\u009b\\u202e\\u007f\\u001b\\nb",\n  "list": [\n    1\n  ]\n}\n')
})
