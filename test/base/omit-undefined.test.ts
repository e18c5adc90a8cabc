import { expect, expectTypeOf, it } from 'vitest'
import { omitUndefined } from '../../src/core/base/omit-undefined.ts'

it('leaves out what is undefined, and nothing else', () => {
  const found = omitUndefined({ a: 1, b: undefined, c: null, d: '', e: false })
  expect(Object.keys(found)).toEqual(['a', 'c', 'd', 'e'])
})

it('has a property that may be undefined as one that may be absent', () => {
  const given: { name: string; hint: string | undefined } = { name: 'x', hint: undefined }
  const found = omitUndefined(given)
  expectTypeOf(found.name).toEqualTypeOf<string>()
  const absent: { name: string; hint?: string } = found
  expect('hint' in absent).toBe(false)
})
