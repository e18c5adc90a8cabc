/** Each safety rule is shown by tests that are named after it, beside the planner's by some with real parts. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { allRules } from '../../scripts/rule-books.ts'

const TESTS = join(import.meta.dirname, '..')

/** A call of a test or a group, a table's title, or the name of one of its rows. */
const TITLE =
  /(?:\b(?:it|test|describe)\b[^\n;]*\(|\]\)\(|\b(?:name|why|scenario|rule): |\n\s*\[)\s*(['"`])((?:(?!\1)[^\\\n]|\\.)*)\1/g

/** Files by the rules that stand in titles of theirs. */
const shown = new Map<string, Set<string>>()
for (const file of globSync('**/*.test.ts', { cwd: TESTS }))
  for (const [, , title = ''] of readFileSync(join(TESTS, file), 'utf8').matchAll(TITLE))
    for (const id of title.match(/\bS\d+\b/g) ?? []) shown.set(id, (shown.get(id) ?? new Set()).add(file))

it.each(allRules().flatMap(({ id }) => (id.startsWith('S') ? [id] : [])))(
  '%s is shown by tests of more than one file',
  (rule) => expect([...(shown.get(rule) ?? [])].length).toBeGreaterThan(1),
)
