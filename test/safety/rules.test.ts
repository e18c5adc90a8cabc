import { describe, expect, it } from 'vitest'
import { isThere } from '../helpers/titles.ts'
import { LAST_RULE, RULES } from './rules.ts'

const every = Object.entries(RULES).flatMap(([rule, list]) => list.map((each) => ({ rule, ...each })))

describe('the table of safety rules', () => {
  it('has every rule, in order', () => {
    expect(Object.keys(RULES)).toEqual(Array.from({ length: LAST_RULE }, (_, n) => `S${n + 1}`))
  })

  it.each(Object.entries(RULES))('%s has a test that is named after it', (rule, list) => {
    expect(list.some(({ title }) => new RegExp(`\\b${rule}\\b`).test(title))).toBe(true)
  })

  it.each(every)('$rule: $file has "$title"', (each) => {
    expect(isThere(each)).toBe(true)
  })
})
