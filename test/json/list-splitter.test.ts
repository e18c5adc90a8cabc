/** A list that is taken apart while it comes in is the one that JSON.parse reads in one piece, however its bytes are cut. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ListSplitter } from '../../src/core/json/list-splitter.ts'
import { JsonLimitError } from '../../src/core/trust/json-scan.ts'

const MEBIBYTE = 1024 * 1024

/** The document with its objects back in `items`, or what it is refused for. */
function split(bytes: Buffer, sizes: readonly number[], objectBytes = MEBIBYTE): unknown {
  let taken: unknown[] = []
  const splitter = new ListSplitter(
    {
      begin: () => {
        taken = []
      },
      take: (object) => taken.push(object),
    },
    objectBytes,
  )
  try {
    for (let at = 0, turn = 0; at < bytes.length; turn++) {
      const size = sizes[turn % sizes.length] ?? 1
      // As a socket's buffer, which is used again.
      const chunk = Buffer.from(bytes.subarray(at, at + size))
      splitter.add(chunk)
      chunk.fill(0)
      at += size
    }
    const rest = splitter.end() as { items?: unknown }
    if (!Array.isArray(rest?.items)) return rest
    const objects = taken.values()
    return { ...rest, items: rest.items.map((item) => (isObject(item) ? objects.next().value : item)) }
  } catch (error) {
    return error instanceof JsonLimitError ? error.code : (error as Error).name
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function whole(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch (error) {
    return (error as Error).name
  }
}

const page = (more: string, items: string): string => `{"kind":"PodList"${more},"items":${items}}`

describe('a list in pieces', () => {
  it.each<[what: string, text: string]>([
    ['no objects', page('', '[]')],
    ['no items', '{"kind":"PodList"}'],
    ['null', page('', 'null')],
    ['metadata first, as API servers write it', page(',"metadata":{"continue":"a]}"}', '[{"a":1},{"b":[{}]}]')],
    ['metadata last', '{"items":[{"a":1}],"metadata":{"resourceVersion":"7"},"kind":"PodList"}'],
    ['blanks', ' \n{ "items" : [ {"a" : 1 } ,\n {} ] , "kind" : "x" }\n'],
    ['items within', page(',"metadata":{"items":[{"a":1}]}', '[{"items":[{"b":2}]}]')],
    ['a text that looks like one', page(',"x":"\\",\\"items\\":[{"', '[{"a":"]}{["}]')],
    ['the name as a value', '{"x":"items","y":[{"a":1}],"items":[{}]}'],
    ['items twice', page(',"items":[{"a":1},{"b":2}]', '[{"c":3}]')],
    ['items twice, first a text', page(',"items":"x"', '[{"c":3}]')],
    ['items twice, then null', page(',"items":[{"a":1}]', 'null')],
    ['a name with escapes', '{"it\\u0065ms":[{"a":1}]}'],
    ['other things', page('', '[1,"x",null,[{"a":1}],{"b":2},true]')],
    ['characters of several bytes', page(',"ä":"€"', '[{"数":"\u{1f600}"},{"x":"\ud800"}]')],
    ['bytes that are no UTF-8', Buffer.from('7b226974656d73223a5b7b2261223a22ffc3227d5d7d', 'hex').toString('latin1')],
    ['an object, but no list', '{"kind":"Pod","metadata":{"name":"x"}}'],
    ['a list alone', '[{"items":[{"a":1}]}]'],
    ['a text alone', '"{\\"items\\":[]}"'],
    ['nothing', ''],
    ['HTML', '<html>[{}]</html>'],
    ['cut off in an object', page('', '[{"a":1},{"b":').slice(0, -1)],
    ['cut off in a text', '{"items":[{"a":"x'],
    ['cut off after an escape', '{"items":[{"a":"x\\'],
    ['cut off between objects', '{"items":[{"a":1},'],
    ['cut off before its end', '{"items":[{"a":1}]'],
    ['no comma between objects', page('', '[{"a":1}{"b":2}]')],
    ['a comma too many', page('', '[{"a":1},]')],
    ['a number grown together with an object', page('', '[1{"a":1}]')],
    ['a bracket of another kind', page('', '[{"a":1]]')],
    ['names in a list', page('', '["a":{"b":1}]')],
    ['no colon', '{"items"[{"a":1}]}'],
    ['something after it', `${page('', '[{"a":1}]')}{"items":[]}`],
  ])('%s', (_, text) => {
    const bytes = Buffer.from(text, text.includes('\xff') ? 'latin1' : 'utf8')
    const wanted = whole(bytes)
    for (const size of [1, 2, 3, 7, 1000]) expect(split(bytes, [size])).toEqual(wanted)
  })

  it('is the same whatever is in it, and however it is cut', () => {
    const value = fc.jsonValue({ maxDepth: 3 })
    const object = fc.dictionary(fc.oneof(fc.constant('items'), fc.string()), value)
    const items = fc.array(fc.oneof({ weight: 5, arbitrary: object }, { weight: 1, arbitrary: value }))
    const member = fc.oneof(
      fc.tuple(fc.constant('items'), items),
      fc.tuple(fc.constantFrom('metadata', 'kind', 'items'), value),
    )
    const list = fc
      .array(member, { maxLength: 4 })
      .map((members) => `{${members.map(([name, each]) => `"${name}":${JSON.stringify(each)}`).join()}}`)
    const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 })
    const damage = fc.record({ at: fc.nat(), byte: fc.constantFrom(...Buffer.from('{}[]",:\\x0 \xff', 'latin1')) })
    fc.assert(
      fc.property(list, sizes, fc.option(damage), (text, cuts, harm) => {
        const bytes = Buffer.from(text)
        if (harm !== null) bytes[harm.at % bytes.length] = harm.byte
        expect(split(bytes, cuts)).toEqual(whole(bytes))
      }),
      { numRuns: 2000, seed: 200 },
    )
  })
})

describe('S34: a list in pieces is bounded', () => {
  const deep = '['.repeat(1_000_000)
  it.each<[what: string, text: string, code: string]>([
    ['an object without an end', page('', `[{"a":"${'x'.repeat(2 * MEBIBYTE)}`), 'TooLarge'],
    ['a member without an end', `{"metadata":{"a":"${'x'.repeat(2 * MEBIBYTE)}`, 'TooLarge'],
    ['a text without an end', `{"kind":"${'x'.repeat(2 * MEBIBYTE)}`, 'TooLarge'],
    ['no list, without an end', ' x'.repeat(2 * MEBIBYTE), 'TooLarge'],
    ['brackets in an object', page('', `[{"a":${deep}`), 'TooDeep'],
    ['brackets in a member', `{"metadata":${deep}`, 'TooDeep'],
    ['brackets in items', page('', deep), 'TooDeep'],
  ])('%s', (_, text, code) => {
    expect(split(Buffer.from(text), [16_384])).toBe(code)
    expect(split(Buffer.from(text.slice(0, 1.5 * MEBIBYTE)), [4099])).toBe(code)
  })

  it('many objects are no matter', () => {
    const text = page('', `[${Array.from({ length: 100_000 }, (_, index) => `{"uid":"${index}"}`).join()}]`)
    expect(text.length).toBeGreaterThan(MEBIBYTE)
    expect(split(Buffer.from(text), [16_384])).toEqual(JSON.parse(text))
  })

  it('keeps no more than the object that comes', () => {
    const splitter = new ListSplitter({ begin: () => {}, take: () => {} }, MEBIBYTE)
    splitter.add(Buffer.from('{"items":['))
    for (let sent = 0; sent < 2000; sent++) splitter.add(Buffer.from(`{"a":"${'x'.repeat(50_000)}"},`))
    expect(splitter.held).toBeLessThan(200_000)
  })
})
