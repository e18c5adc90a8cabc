import { expect, it } from 'vitest'
import { hasTitle } from './titles.ts'

it('tells a title from a text that is somewhere in the file', () => {
  const source = [
    "it('one', () => {\n  expect(x).toBe('two')\n})",
    "it.each([{ name: 'three' }])('$name', () => {})",
    "it.each([\n  ['four', 'five'],\n  [\n    'six',\n    'seven',\n  ],\n])('%s', () => {})",
    'describe(`eight$ (why)`, () => {})',
  ].join('\n')
  const titles = ['one', 'two', 'on', 'three', '$name', 'four', 'five', 'six', 'seven', 'eight']
  expect(titles.filter((title) => hasTitle(source, title))).toEqual(['one', 'three', '$name', 'four', 'six', 'eight'])
})
