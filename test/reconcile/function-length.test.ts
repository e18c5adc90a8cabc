import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const MOST = 50

/** Where a function with a body of lines begins, by the formatter's hand: its end is a brace in the same column. */
const OPENING = /^(\s*)(?:export )?function\b|^(\s*).*(?:=>|\)(?:: [^=]*)?) \{$/

it(`no function in reconcile is longer than ${MOST} lines`, () => {
  const files = globSync('src/core/reconcile/**/*.ts', { cwd: ROOT })
  expect(files.length).toBeGreaterThan(50)
  expect(files.flatMap(longFunctions)).toEqual([])
})

function longFunctions(file: string): string[] {
  const lines = readFileSync(join(ROOT, file), 'utf8').split('\n')
  return lines.flatMap((line, start) => {
    const opening = OPENING.exec(line)
    if (opening === null) return []
    const indent = opening[1] ?? opening[2] ?? ''
    const length = lines.slice(start + 1).findIndex((each) => each.startsWith(`${indent}}`)) + 2
    return length > MOST ? [`${file}:${start + 1} has ${length} lines`] : []
  })
}
