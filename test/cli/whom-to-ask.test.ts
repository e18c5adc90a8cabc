import { expect, it } from 'vitest'
import { mustAsk } from '../../src/core/cli/confirm.ts'

const TERMINAL = { input: true, output: true, errors: true }
const NONE = { input: false, output: false, errors: false }
const nothing = { yes: false, reviewed: false }

it.each([
  ['a terminal', true, TERMINAL, nothing],
  ['a terminal, output to a file', true, { ...TERMINAL, output: false }, nothing],
  ['a terminal and a plan file', true, TERMINAL, { ...nothing, reviewed: true }],
  ['a terminal and --yes', false, TERMINAL, { ...nothing, yes: true }],
  ['no terminal at all', false, NONE, nothing],
  ['a plan from a pipe', false, { ...TERMINAL, input: false }, { ...nothing, reviewed: true }],
  ['a pipe and --yes', false, { ...TERMINAL, input: false }, { ...nothing, yes: true }],
])('%s: asks %s', (_name, asks, where, given) => expect(mustAsk(given, where)).toBe(asks))

it.each([
  { name: 'an answer may be in the pipe', where: { ...TERMINAL, input: false } },
  { name: 'output alone is a terminal', where: { ...NONE, output: true } },
  { name: 'errors alone are a terminal', where: { ...NONE, errors: true } },
  { name: 'the question would not be seen', where: { ...TERMINAL, errors: false } },
])('$name: a usage error', ({ where }) => expect(() => mustAsk(nothing, where)).toThrow(/apply cannot ask/))
