import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { LAST_RULE, RULES } from './rules.ts'

const TESTS = join(import.meta.dirname, '..')
/** Of a table its rows' names count as well. */
const BEFORE_TITLE = /(?:\b(?:it|test|describe)\b[^\n;]*\(|\]\)\(|\bname: )\s*$/

/** Is the text written there as the title of a test, a group, or a row of a table? */
function hasTitle(source: string, title: string): boolean {
  return ["'", '"', '`'].some((quote) => {
    for (let at = source.indexOf(quote + title); at !== -1; at = source.indexOf(quote + title, at + 1)) {
      const end = source[at + 1 + title.length]
      // In a group's title, the reason why it is skipped may follow.
      if ((end === quote || end === '$') && BEFORE_TITLE.test(source.slice(0, at).slice(-400))) return true
    }
    return false
  })
}

const every = Object.entries(RULES).flatMap(([rule, list]) => list.map((each) => ({ rule, ...each })))

describe('the table of safety rules', () => {
  it('has every rule, in order', () => {
    expect(Object.keys(RULES)).toEqual(Array.from({ length: LAST_RULE }, (_, n) => `S${n + 1}`))
  })

  it.each(Object.entries(RULES))('%s has a test that is named after it', (rule, list) => {
    expect(list.some(({ title }) => new RegExp(`\\b${rule}\\b`).test(title))).toBe(true)
  })

  it.each(every)('$rule: $file has "$title"', ({ file, title }) => {
    expect(hasTitle(readFileSync(join(TESTS, file), 'utf8'), title)).toBe(true)
  })

  it('tells a title from a text that is somewhere in the file', () => {
    const source = "it('one', () => {\n  expect(x).toBe('two')\n})\nit.each([{ name: 'three' }])('$name', () => {})\n"
    expect(['one', 'two', 'three', 'on'].map((title) => hasTitle(source, title))).toEqual([true, false, true, false])
  })
})
