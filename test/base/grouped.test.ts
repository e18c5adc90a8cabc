import { expect, it } from 'vitest'
import { Grouped } from '../../src/core/base/append.ts'

it('has the values of a key in the order in which they came, and none for another key', () => {
  const grouped = new Grouped<string, number>()
  expect(grouped.of('a')).toEqual([])
  grouped.add('a', 0)
  expect(grouped.of('a')).toEqual([0])
  for (const value of [3, 1, 2]) grouped.add('a', value)
  grouped.add('b', 4)
  expect([grouped.of('a'), grouped.of('b'), grouped.of('c')]).toEqual([[0, 3, 1, 2], [4], []])
})

it('tells values that are lists from lists of values', () => {
  const grouped = new Grouped<string, readonly number[]>()
  grouped.add('a', [1, 2])
  expect(grouped.of('a')).toEqual([[1, 2]])
  grouped.add('a', [])
  expect(grouped.of('a')).toEqual([[1, 2], []])
})
