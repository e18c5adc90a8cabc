/** The rule books in docs/rules: what is cited is there, what is there is cited, and what people see can be looked up. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { allRules, ruleBooks } from '../scripts/rule-books.ts'

const ROOT = join(import.meta.dirname, '..')
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

const rules = allRules()
const known = new Set(rules.map(({ id }) => id))

/** All that is written by hand, and the code. */
const CITING = [
  'src/**/*.ts',
  'test/**/*.ts',
  'scripts/**/*.{ts,cjs}',
  '{man/src,docs,docs/rules}/*.md',
  '*.{md,ts}',
  'schema/*.json',
  'deploy/*.yaml',
  'bin/volctl',
]
const files = globSync(CITING, { cwd: ROOT }).filter(
  (file) => !/^test\/fixtures\/|\/grpc\/gen\/|^test\/rules\.test/.test(file),
)

/** A set of control characters, and no rule: C0, beside C1. */
const noRule = (file: string, id: string): boolean => id === 'C0' && /terminal-safe|base\/text/.test(file)

/** Each number of a rule in a text, by itself or as an end of a range such as P72-P75. */
const ID = /\b[CNOPRS]\d{1,3}[a-z]?\b/g

interface Citation {
  readonly file: string
  readonly id: string
}

const citations = files.flatMap((file): Citation[] =>
  (read(file).match(ID) ?? []).filter((id) => !noRule(file, id)).map((id) => ({ file, id })),
)

/** What lies within a range is cited by it. */
function inRanges(text: string): string[] {
  return [...text.matchAll(/\b([CNOPRS])(\d{1,3})(?:-| to )\1(\d{1,3})\b/g)].flatMap(
    ([, book = '', from = '', to = '']) =>
      Array.from(
        { length: Number(to) - Number(from) + 1 },
        (_, n) => `${book}${`${Number(from) + n}`.padStart(from.length, '0')}`,
      ),
  )
}

/** A source without its comments. */
function code(file: string): string {
  return read(file)
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/(^|\s)\/\/.*/gm, '$1')
}

const sources = files.filter((file) => file.startsWith('src/'))

describe('the rule books', () => {
  it('have each rule once, and text for it', () => {
    expect(rules.length).toBeGreaterThan(400)
    expect(known.size).toBe(rules.length)
    expect(rules.filter(({ text }) => !/^["`\w].{20,}[.)]$/.test(text))).toEqual([])
  })

  it('have each entry in the one form that is read', () => {
    const written = [...ruleBooks().values()].flatMap((text) => text.match(/^[-*] \*\*[CNOPRS]\d+.*/gm) ?? [])
    expect(written.filter((line) => !/^- \*\*[CNOPRS]\d{1,3}\*\* \S/.test(line))).toEqual([])
    expect(written).toHaveLength(rules.length)
  })

  it('have every rule that is cited anywhere', () => {
    expect(citations.filter(({ id }) => !known.has(id))).toEqual([])
  })

  it('have no rule that nothing cites', () => {
    const elsewhere = citations.filter(({ file }) => !file.startsWith('docs/rules/')).map(({ id }) => id)
    const cited = new Set([...elsewhere, ...files.flatMap((file) => inRanges(read(file)))])
    expect([...known].filter((id) => !cited.has(id))).toEqual([])
  })
})

describe('what people see', () => {
  it('names rules of the books', () => {
    const shown = sources.flatMap((file) => [...code(file).matchAll(/'([CNOPRS]\d{1,3})'/g)].map(([, id = '']) => id))
    expect(shown.length).toBeGreaterThan(30)
    expect([...new Set(shown)].filter((id) => !known.has(id))).toEqual([])
  })

  it('has no number of a rule within a sentence', () => {
    const said = sources.flatMap((file) =>
      (
        code(file)
          .replaceAll(/'[CNOPRS]\d{1,3}'/g, '')
          .match(ID) ?? []
      )
        .filter((id) => !noRule(file, id))
        .map((id): Citation => ({ file, id })),
    )
    expect(said).toEqual([])
  })
})
