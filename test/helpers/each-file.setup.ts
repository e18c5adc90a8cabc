/**
 * For every file of tests, also where several share a process and with it the modules that they import: what is left is cleared away, and a
 * hint is compared as what a document says of it.
 */
import { afterAll, expect } from 'vitest'
import { Advice } from '../../src/core/messages/command.ts'
import { endFile } from './file-end.ts'

afterAll(endFile)

const textOf = (value: unknown): unknown => (value instanceof Advice ? `${value}` : value)

expect.addEqualityTesters([
  (a, b) => (a instanceof Advice !== b instanceof Advice ? Object.is(textOf(a), textOf(b)) : undefined),
])

for (const matcher of [expect.stringContaining(''), expect.stringMatching('')]) {
  const made = Object.getPrototypeOf(matcher)
  const { asymmetricMatch } = made
  made.asymmetricMatch = function (value: unknown): boolean {
    return asymmetricMatch.call(this, textOf(value))
  }
}
