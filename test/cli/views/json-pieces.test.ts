import { expect, it } from 'vitest'
import { jsonPieces } from '../../../src/core/views/structured.ts'

const joined = (value: unknown): string => [...jsonPieces(value)].join('')

it.each<[string, unknown]>([
  ['nothing in it', {}],
  ['an empty list', []],
  ['no object', 'a\nb'],
  ['null', null],
  ['what is empty, in each other', { a: [], b: {}, c: [[], {}, [[]]] }],
  ['what JSON leaves out', { a: undefined, b: [undefined, 1], c: { d: undefined } }],
  ['lines in texts, deeper than pieces go', { a: [{ b: [{ c: [{ d: 'x\ny', e: [1, { f: 2 }] }] }] }] }],
  ['a date', { at: new Date(0), list: [new Date(0)] }],
  ['names that need escapes', { 'a"b\n': { '': 1 } }],
])('JSON in pieces is the text that JSON.stringify makes: %s', (_name, value) =>
  expect(joined(value)).toBe(`${JSON.stringify(value, null, 2)}\n`),
)

it('no piece is large, however much there is', () => {
  const operations = Array.from({ length: 20_000 }, (_, id) => ({ id, message: 'x'.repeat(300) }))
  const sizes = [...jsonPieces({ applies: [{ operations }] })].map(({ length }) => length)
  expect(sizes.length).toBeGreaterThan(5)
  expect(Math.max(...sizes)).toBeLessThan(1_100_000)
})
