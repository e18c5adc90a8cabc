import { expect, it } from 'vitest'
import { explainCode } from '../../src/core/explain/rule-book.ts'
import type { Place } from '../../src/core/messages/code-entry.ts'

it.each<[code: string, appears: Place[], rules: string[]]>([
  ['DriverUnavailable', ['blocked', 'waiting', 'problem'], ['S16', 'P87']],
  ['Usage', ['error'], []],
])('%s', (code, appears, rules) => {
  const answer = explainCode(code)
  expect(answer).toMatchObject({ kind: 'Code', code, rules })
  expect(answer?.appears.map((each) => each.in)).toEqual(appears)
})

it.each(['driverunavailable', 'DriverUnavailabl', 'toString', ''])('"%s" is none', (word) =>
  expect(explainCode(word)).toBeUndefined(),
)
