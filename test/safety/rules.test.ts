import { describe, expect, it } from 'vitest'
import { ruleEntries } from '../../scripts/rule-books.ts'
import { parseRules } from '../../src/core/explain/rule-book.ts'
import { isThere } from '../helpers/titles.ts'
import { RULES } from './rules.ts'

const every = Object.entries(RULES).flatMap(([rule, list]) => list.map((each) => ({ rule, ...each })))

describe('the table of safety rules', () => {
  it('has every rule of docs/rules/safety.md, in order', () => {
    const safety = parseRules(ruleEntries()).filter(({ id }) => id.startsWith('S'))
    expect(Object.keys(RULES)).toEqual(safety.map(({ id }) => id))
  })

  it.each(Object.entries(RULES))('%s has a test that is named after it', (rule, list) => {
    expect(list.some(({ title }) => new RegExp(`\\b${rule}\\b`).test(title))).toBe(true)
  })

  it.each(every)('$rule: $file has "$title"', (each) => {
    expect(isThere(each)).toBe(true)
  })
})
