/** Every upstream test that is named has its place, and every test of ours that is named there exists. */
import { describe, expect, it } from 'vitest'
import { isThere } from '../helpers/titles.ts'
import { NAMED } from './named.ts'
import { TABLES } from './tables.ts'
import type { Verdict } from './verdict.ts'

interface Case {
  /** `file: test`. */
  readonly test: string
  readonly name: string
  readonly verdict: Verdict
}

const files = TABLES.flatMap((table) => Object.entries(table))
const tests = files.flatMap(([file, table]) => Object.keys(table).map((test) => `${file}: ${test}`))
const cases = files.flatMap(([file, table]) =>
  Object.entries(table).flatMap(([test, its]) =>
    Object.entries(its).map(([name, verdict]): Case => ({ test: `${file}: ${test}`, name, verdict })),
  ),
)

describe('the tables of upstream tests', () => {
  it('have every test that is named, once', () => {
    const named = Object.entries(NAMED).flatMap(([file, names]) => names.map((name) => `${file}: ${name}`))
    expect(tests.toSorted()).toEqual(named.toSorted())
    expect(new Set(tests).size).toBe(tests.length)
  })

  it('have a case of each', () => {
    expect(tests.filter((test) => !cases.some((each) => each.test === test))).toEqual([])
  })

  it.each(cases)('$test, $name', ({ verdict }) => {
    if ('notApplicable' in verdict) expect(verdict.notApplicable).toMatch(/\S+ \S+ \S+/)
    else {
      expect(verdict.shown).not.toEqual([])
      expect(verdict.shown.filter((each) => !isThere(each))).toEqual([])
    }
    // A rule (docs/rules), or a section of the contract (docs/contract.md).
    if ('instead' in verdict) expect(verdict.instead).toMatch(/\b(?:[CNOPRS]\d+|contract)\b/)
  })
})
