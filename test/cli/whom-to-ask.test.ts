import { expect, it } from 'vitest'
import { mustAsk } from '../../src/core/cli/confirm.ts'

const TERMINAL = { input: true, output: true, errors: true }
const NONE = { input: false, output: false, errors: false }
const nothing = { yes: false, reviewed: false }

it.each([
  { name: 'a terminal', where: TERMINAL, given: nothing, asks: true },
  { name: 'a terminal, output to a file', where: { ...TERMINAL, output: false }, given: nothing, asks: true },
  { name: 'a terminal and a plan file', where: TERMINAL, given: { ...nothing, reviewed: true }, asks: true },
  { name: 'a terminal and --yes', where: TERMINAL, given: { ...nothing, yes: true }, asks: false },
  { name: 'no terminal at all', where: NONE, given: nothing, asks: false },
  {
    name: 'a plan from a pipe',
    where: { ...TERMINAL, input: false },
    given: { ...nothing, reviewed: true },
    asks: false,
  },
  { name: 'a pipe and --yes', where: { ...TERMINAL, input: false }, given: { ...nothing, yes: true }, asks: false },
])('$name: asks $asks', ({ where, given, asks }) => expect(mustAsk(given, where)).toBe(asks))

it.each([
  { name: 'an answer may be in the pipe', where: { ...TERMINAL, input: false } },
  { name: 'output alone is a terminal', where: { ...NONE, output: true } },
  { name: 'errors alone are a terminal', where: { ...NONE, errors: true } },
  { name: 'the question would not be seen', where: { ...TERMINAL, errors: false } },
])('$name: a usage error', ({ where }) => expect(() => mustAsk(nothing, where)).toThrow(/apply cannot ask/))
