import { expect, it } from 'vitest'
import { mustAsk } from '../../src/core/cli/confirm.ts'

const [here, gone] = [{ isTTY: true }, { isTTY: false }]
const TERMINAL = { stdin: here, stdout: here, stderr: here }
const NONE = { stdin: gone, stdout: gone, stderr: gone }
const nothing = { yes: false, reviewed: false }

it.each([
  ['a terminal', true, TERMINAL, nothing],
  ['a terminal, output to a file', true, { ...TERMINAL, stdout: gone }, nothing],
  ['a terminal and a plan file', true, TERMINAL, { ...nothing, reviewed: true }],
  ['a terminal and --yes', false, TERMINAL, { ...nothing, yes: true }],
  ['no terminal at all', false, NONE, nothing],
  ['a plan from a pipe', false, { ...TERMINAL, stdin: gone }, { ...nothing, reviewed: true }],
  ['a pipe and --yes', false, { ...TERMINAL, stdin: gone }, { ...nothing, yes: true }],
])('%s: asks %s', (_name, asks, where, given) => expect(mustAsk(given, where)).toBe(asks))

it.each([
  { name: 'an answer may be in the pipe', where: { ...TERMINAL, stdin: gone } },
  { name: 'output alone is a terminal', where: { ...NONE, stdout: here } },
  { name: 'errors alone are a terminal', where: { ...NONE, stderr: here } },
  { name: 'the question would not be seen', where: { ...TERMINAL, stderr: gone } },
])('$name: a usage error', ({ where }) => expect(() => mustAsk(nothing, where)).toThrow(/apply cannot ask/))
