/** A hint is what a document says of it: tests expect its text. */
import { expect } from 'vitest'
import { Advice } from '../../src/core/messages/command.ts'

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
