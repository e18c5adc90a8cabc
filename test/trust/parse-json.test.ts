import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonLimitError, type JsonLimits, parseJson } from '../../src/core/trust/parse-json.ts'
import { mutated } from '../fuzz/mutate.ts'

/** What it says of a limit without the number, `SyntaxError`, or the value. */
function outcome(text: string, limits?: Partial<JsonLimits>): unknown {
  try {
    return parseJson(Buffer.from(text), limits)
  } catch (error) {
    if (error instanceof JsonLimitError) return error.message.replace(/ than .*/, '')
    return (error as Error).name
  }
}

describe('within the limits it is JSON.parse', () => {
  it.each([
    ['a name twice', '{"a":1,"a":2}'],
    ['a name that is none', '{"__proto__":{"a":1}}'],
    ['every character', JSON.stringify('ä数\u{1f600}\ud800\u2028"\\/\n\u0000')],
  ])('%s', (_, text) => {
    expect(parseJson(Buffer.from(text))).toEqual(JSON.parse(text))
    expect(parseJson(text)).toEqual(JSON.parse(text))
  })

  it.each([
    ['nothing', ''],
    ['a text without an end', '{"a":"x'],
    ['more ends than beginnings', ']]}}'],
    ['a newline in a text', '["\n"]'],
    ['bytes that are no UTF-8 outside of texts', '[\xff]'],
  ])('%s: a SyntaxError', (_, text) => expect(outcome(text)).toBe('SyntaxError'))

  it('whatever the bytes are', () => {
    fc.assert(
      fc.property(mutated('snapshot'), (bytes) => {
        let wanted: unknown
        try {
          wanted = JSON.parse(bytes.toString())
        } catch {
          wanted = 'SyntaxError'
        }
        // A mutation that is deep is refused before it is found to be no JSON.
        const found = outcome(bytes.toString())
        if (found !== 'is nested more') expect(found).toEqual(wanted)
      }),
      { numRuns: 300, seed: 34 },
    )
  })
})

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
it.each<[what: string, text: string, maxDepth: number | undefined, deep: boolean]>([
  ['100', nested(100), undefined, false],
  ['101', nested(101), undefined, true],
  ['without an end', '['.repeat(1_000_000), undefined, true],
  ['of objects', '{"a":'.repeat(101), undefined, true],
  ['none', '"[[["', 0, false],
  ['side by side', '[[],[],{"a":{}},{}]', 3, false],
  ['in a text', '["[[[","{{","\\"[[","\\\\\\"[["]', 1, false],
  ['after a text that ends in backslashes', '["\\\\",[[]]]', 2, true],
  ['in a name', '{"[[\\"[":1}', 1, false],
])('S34: depth: %s', (_, text, maxDepth, deep) =>
  expect(outcome(text, maxDepth === undefined ? {} : { maxDepth }) === 'is nested more').toBe(deep),
)

describe('S34: values', () => {
  it.each<[text: string, values: number]>([
    ['[]', 2],
    ['[1,2,3]', 4],
    ['["a,b","c\\",[d"]', 3],
    // Ten for a name that none followed on before, here `a`, `b` after it, and `b` first.
    ['{"a":1}', 2 + 10],
    ['{"a":1,"b":2}', 3 + 20],
    ['[{"a":1,"b":2},{"a":1,"b":2}]', 7 + 20],
    ['[{"a":1,"b":2},{"b":2}]', 6 + 30],
    ['{"a":{"a":{"a":1}}}', 4 + 10],
    ['[{"a":[{"b":1}],"c":1},{"a":[{"b":1}],"c":1}]', 11 + 30],
    ['[{"9":1},{"9":1}]', 5 + 10 + 6],
    ['{"\\u0039":1}', 2 + 10 + 3],
  ])('%s: %d', (text, values) => {
    expect(outcome(text, { maxValues: values })).toEqual(JSON.parse(text))
    expect(outcome(text, { maxValues: values - 1 })).toBe('has more')
  })

  it('are never fewer than there are, nor is the depth', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.boolean(), (value, wide) => {
        const text = JSON.stringify(value, undefined, wide ? 2 : undefined)
        const { values, depth } = measured(value)
        if (depth > 0) expect(outcome(text, { maxValues: values - 1 })).toBe('has more')
        expect(outcome(text, { maxDepth: depth })).toEqual(JSON.parse(text))
        if (depth > 0) expect(outcome(text, { maxDepth: depth - 1 })).toBe('is nested more')
      }),
      { numRuns: 300, seed: 34 },
    )
  })
})

function measured(value: unknown): { values: number; depth: number } {
  if (typeof value !== 'object' || value === null) return { values: 1, depth: 0 }
  const below = Object.values(value).map(measured)
  return {
    values: below.reduce((sum, each) => sum + each.values, 1),
    depth: 1 + Math.max(0, ...below.map(({ depth }) => depth)),
  }
}

it.each<[what: string, text: string, limits: Partial<JsonLimits>, limit: string | undefined]>([
  ['as many as may be', '"abcd"', { maxBytes: 6 }, undefined],
  ['one more', '"abcde"', { maxBytes: 6 }, 'is larger'],
  ['characters of several', '"ää"', { maxBytes: 5 }, 'is larger'],
  ['three copies fit', '"abcd"', { maxMemory: 3 * 6 + 72 }, undefined],
  ['three copies do not', '"abcd"', { maxMemory: 3 * 6 - 1 }, 'is larger'],
  ['five copies, of what is no ASCII', '"äb"', { maxMemory: 5 * 5 - 1 }, 'is larger'],
  ['with the values it is too much', '[1,2]', { maxMemory: 3 * 5 + 2 * 72 }, 'has more'],
])('S34: bytes: %s', (_, text, limits, limit) => {
  const wanted = limit ?? JSON.parse(text)
  expect(outcome(text, limits)).toEqual(wanted)
})
