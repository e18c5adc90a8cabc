import { expect, it } from 'vitest'
import { distinct } from '../../src/core/lang/distinct.ts'

it('has each text once, in the order in which they come', () => {
  expect(distinct([])).toEqual([])
  expect(distinct(['b', 'a', 'b', 'c', 'a'])).toEqual(['b', 'a', 'c'])
})

it('does the same with a long list', () => {
  const texts = Array.from({ length: 100 }, (_, index) => `${index % 30}`)
  expect(distinct(texts)).toEqual([...new Set(texts)])
})
