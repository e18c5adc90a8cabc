/** The project gets smaller: no figure is above its budget, and a budget follows what was removed (scripts/budget.ts). */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { budget, budgets, type Figures, figuresNow, measure, raised } from '../scripts/budget.ts'

/** How far below its budget a figure may be; a line has about seven tokens. */
const SLACK = { lines: 300, tokens: 2100 }
const isCheckout = existsSync(join(import.meta.dirname, '..', '.git'))

it.skipIf(!isCheckout)('no figure is above its budget or far below it (only in a checkout of git)', () => {
  const { sums, folders } = budget()
  const now = figuresNow()
  const pairs: [string, Figures, Figures | undefined][] = [
    ['src', now.sums.src, sums.src],
    ['test', now.sums.test, sums.test],
    ...Object.entries(now.folders).map(([name, figures]): [string, Figures, Figures | undefined] => [
      `src/core/${name}`,
      figures,
      folders[name],
    ]),
  ]
  const above = pairs.flatMap(([name, figures, most]) =>
    (['lines', 'tokens'] as const)
      .filter((figure) => figures[figure] > (most?.[figure] ?? 0))
      .map((figure) => `${name} has ${figures[figure]} ${figure}, its budget is ${most?.[figure] ?? 0}`),
  )
  expect(above, 'more code needs less elsewhere, in the same commit; then: npm run budget').toEqual([])
  const below = pairs.flatMap(([name, figures, most]) =>
    (['lines', 'tokens'] as const)
      .filter((figure) => (most?.[figure] ?? 0) - figures[figure] > SLACK[figure])
      .map((figure) => `${name} has ${figures[figure]} ${figure}, its budget is ${most?.[figure]}`),
  )
  expect(below, 'less than was allowed: npm run budget').toEqual([])
  expect(
    (['src', 'test'] as const).filter((area) => now.sums[area].files > sums[area].files),
    'more files need fewer elsewhere',
  ).toEqual([])
  expect(Object.keys(folders).filter((name) => now.folders[name] === undefined)).toEqual([])
})

it.skipIf(!isCheckout)('no commit has raised a sum (only in a checkout of git)', () => {
  const all = budgets()
  expect(all.flatMap((each, n) => raised(all[n - 1] ?? each, each))).toEqual([])
})

it.each([
  ['names, numbers, strings and marks', "const a1 = b?.c ?? 'd e' // f\n", { lines: 1, tokens: 8 }],
  ['a template is one string', 'x(`a\nb`)\n', { lines: 2, tokens: 4 }],
  ['a comment is none', '/** a\n * b */\nx === 1.5\n', { lines: 3, tokens: 3 }],
])('%s', (_, text, figures) => expect(measure(text)).toEqual(figures))
