/** Nothing holds an operation of a node back but the list of rules; who else says a reason is named here, and why. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { allRules } from '../../scripts/rule-books.ts'
import { OPERATION_KINDS } from '../../src/core/plan/kinds.ts'
import { decideNode } from '../../src/core/reconcile/plan-node.ts'
import { RULES } from '../../src/core/rules/rules.ts'
import { THE_NODE } from '../../src/core/volumes/finding.ts'
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
  'reconcile/plan-node.ts', // A plan that is refused is refused as a whole (S1, S29).
]

/** The facts that a rule reads, by its text: what it takes apart at its head or later, and what it asks for by name. */
function factsIn(text: string): readonly string[] {
  const [, given = ''] = /^[^(]*\(([^)]*)\)/.exec(text) ?? []
  const [, taken = ''] = /const (\{.*?\}) = facts;/s.exec(text) ?? []
  // Without what is inside of a fact, and what stands for one that is absent.
  const whole = `${given} ${taken}`.replaceAll(/: (?:\{[^{}]*\}|\[[^[\]]*\]|\w+)| = [^,}]+/g, '')
  const named = text.match(/(?<=\bfacts\.)\w+/g) ?? []
  return [...new Set([...(whole.match(/\w+/g) ?? []), ...named])].filter((name) => name !== 'facts')
}

const HEAD = ['Rule', 'Check', 'Reads', 'Holds back', 'Judged on', 'Test files that name the rule']

describe('the rules', () => {
  it('are in the rule book', () => {
    const known = new Set(allRules().map(({ id }) => id))
    expect(RULES.filter(({ id }) => !known.has(id))).toEqual([])
  })

  it('hold nothing back of a healthy node where no fact is given', () => {
    const { context } = decideNode(node().build(), planOptions())
    const draft = { subject: THE_NODE, steps: [], paths: [], after: [], removes: new Set<number>() }
    for (const rule of RULES) {
      const { id, about } = rule
      for (const kind of rule.asked === undefined ? about : []) {
        const whole = { ...draft, kind, reason: 'PodGone', message: '', rule: id } as const
        const verdict = rule.asked === undefined && rule.judge({ operation: whole, context })
        expect([id, kind, verdict]).toEqual([id, kind, undefined])
      }
    }
  })

  it('are each on the page for auditors (checks.md)', async () => {
    const tests = globSync('test/{rules,reconcile,apply,privileged}/**/*.test.ts', { cwd: ROOT }).toSorted()
    const texts = tests.map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }))
    const rows = RULES.map((rule) => {
      const { id, about, judge } = rule
      // As the test's own program has it: names of imports are another's.
      const text = `${judge}`.replaceAll(/\(0, ?__\w+\.(\w+)\)/g, '$1')
      const [first = 'none', ...others] = texts
        .filter(({ text }) => new RegExp(`\\b${id}\\b`).test(text))
        .map(({ file }) => file)
      const asked = rule.asked === undefined ? 'the look' : `the machine: ${rule.asked.join(' ')}`
      return [
        id,
        judge.name || text.replace(/^.*=> /, ''),
        factsIn(text).join(' '),
        about.size === OPERATION_KINDS.length ? 'all' : [...about].join(' '),
        asked,
        `${first} and ${others.length} more`,
      ]
    })
    const table = [HEAD, HEAD.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |\n`).join('')
    await expect(table).toMatchFileSnapshot('checks.md')
  })

  it('are the only ones that block', () => {
    const making = PASS.filter(({ text }) => /\bblocked: \{|\): (?:\w+ \| )*Obstacle\b/.test(text))
    const others = making.filter(({ file }) => !EXCEPTIONS.some((each) => file.startsWith(each)))
    expect(others.map(({ file }) => file)).toEqual([])
  })

  it('are the only ones that refuse an operation of apply, but for who is asked once for all of them', () => {
    const refusing = globSync('src/core/apply/{*,!(cluster)/**/*}.ts', { cwd: ROOT }).filter((file) =>
      readFileSync(join(ROOT, file), 'utf8').includes('new OperationRefused('),
    )
    expect(refusing.map((file) => file.replace('src/core/apply/', '')).toSorted()).toEqual([
      'apply-run.ts', // The limit of --stop-kubelet (S35).
      'disks/detach.ts', // The API server's refusal of the deletion (S21).
      'operation/ask-kubelet.ts', // The kubelet, and who lives (S9, S11).
    ])
  })
})
