import { expect, it } from 'vitest'
import { firstCharacters } from '../../src/core/base/text.ts'

it.each([
  ['abc', 3, 'abc'],
  ['abcd', 3, 'abc… (1 more characters)'],
  ['', 3, ''],
  ['ab\u{1f4be}', 3, 'ab\ufffd… (1 more characters)'],
])('%j, at most %i characters: %j', (text, most, shown) => expect(firstCharacters(text, most)).toBe(shown))
