/** Nothing holds an operation of a node back but the list of rules; who else says a reason is named here, and why. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ruleEntries } from '../../scripts/rule-books.ts'
import { explainRule } from '../../src/core/explain/rule-book.ts'
import { codesIn } from '../../src/core/messages/codes.ts'
import { THE_NODE } from '../../src/core/plan/subject.ts'
import { decideNode } from '../../src/core/reconcile/plan-node.ts'
import { RULES } from '../../src/core/rules/rules.ts'
import { node } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const PASS = globSync('src/core/{reconcile,volumes}/**/*.ts', { cwd: ROOT }).map((file) => ({
  file: file.replace('src/core/', ''),
  text: readFileSync(join(ROOT, file), 'utf8'),
}))

/** Where an obstacle is made outside rules/, by folder or file. */
const EXCEPTIONS = [
  'volumes/', // What a plugin says of its own volume is in its one file (S22).
  'reconcile/mount-volumes/', // The conditions of a mount hold back nothing that is there (S22, S23).
  'reconcile/context/unread.ts', // Said as well of what no operation is about (S3).
  'reconcile/drivers/', // Whether a driver can be called is asked before the steps are made (S16).
  'reconcile/plan-node.ts', // A plan that is refused is refused as a whole (S1, S29).
]

describe('the rules', () => {
  it('are in the rule book, and give codes of operations that are blocked', () => {
    const books = ruleEntries()
    expect(RULES.filter(({ id }) => explainRule(id, books) === undefined)).toEqual([])
    expect(RULES.flatMap(({ codes }) => codes).filter((code) => !codesIn('blocked').includes(code))).toEqual([])
  })

  it('hold nothing back of a healthy node where no fact is given', () => {
    const { context } = decideNode(node().build(), planOptions())
    const draft = { subject: THE_NODE, steps: [], paths: [], after: [], removes: new Set<number>() }
    for (const { id, about, judge } of RULES)
      for (const kind of about)
        expect([id, kind, judge({ ...draft, kind, reason: 'PodGone', message: '', rule: id }, {}, context)]).toEqual([
          ...[id, kind],
          undefined,
        ])
  })

  it('are the only ones that block', () => {
    const making = PASS.filter(({ text }) => /\bblocked: \{|\): (?:\w+ \| )*Obstacle\b/.test(text))
    const others = making.filter(({ file }) => !EXCEPTIONS.some((each) => file.startsWith(each)))
    expect(others.map(({ file }) => file)).toEqual([])
  })
})
