/** What TAB asks for, in kubectl's protocol for completions of a plugin. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commandManifest } from '../../scripts/manifest.ts'
import { answerText, completionText, placeOf } from '../../src/core/completion/complete.ts'
import { COMPLETION_SCRIPTS } from '../../src/core/completion/scripts.ts'
import { commandSpecs } from '../../src/core/completion/spec.ts'
import { typedFlags } from '../../src/core/completion/typed-flags.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const CLUSTER = join(ROOT, 'test', 'fixtures', 'clusters', 'multi-attach.jsonl')
const specs = commandSpecs(Object.values((await commandManifest()).commands))

describe('what may stand in the place', () => {
  it.each([
    { line: '', values: { kind: 'words', words: expect.arrayContaining(['plan', 'explain']) } },
    { line: 'plan --node ', values: { kind: 'live', of: 'node' } },
    { line: 'plan --node=wo', values: { kind: 'live', of: 'node' }, current: 'wo' },
    { line: 'plan --node a -', values: { kind: 'words', words: expect.arrayContaining(['--cluster', '-o']) } },
    { line: 'plan -o js', values: { kind: 'words', words: expect.arrayContaining(['json']) } },
    { line: 'plan --only detach,u', values: { kind: 'list' }, lead: 'detach,' },
    { line: 'plan --snapshot ', values: { kind: 'file' } },
    { line: 'plan --root-dir ', values: { kind: 'directory' } },
    { line: 'plan --settle ', values: { kind: 'free' } },
    { line: 'explain po', values: { kind: 'live', of: 'thing' } },
    { line: 'explain pod we', values: { kind: 'live', of: 'thing' } },
    { line: 'explain a b c', values: { kind: 'free' } },
    { line: 'wait a b c', values: { kind: 'live', of: 'thing' } },
    { line: 'wait -- --x', values: { kind: 'live', of: 'thing' } },
    { line: 'nothing-like-it x', values: { kind: 'free' } },
  ])('$line', ({ line, values, current, lead }) => {
    const place = placeOf(line.split(' '), specs)
    expect(place.values).toMatchObject(values)
    if (current !== undefined) expect(place.current).toBe(current)
    expect(place.lead).toBe(lead ?? '')
  })
})

const answer = (line: string) => completionText(line.split(' '), specs, ROOT, AbortSignal.timeout(60_000))

describe('the answer, and its directive', () => {
  it.each([
    { line: 'expl', text: 'explain\tExplain one pod, claim, volume, attachment, driver, mount...\n:4\n' },
    { line: '--ver', text: '--version\tShow the version\n:4\n' },
    { line: 'plan --pod a --po', text: '--pod\tOnly this pod (name, UID or its beginning), and the devic...\n:4\n' },
    { line: 'plan --snapshot=a --sna', text: ':4\n' },
    { line: 'plan --only detach,remo', text: 'detach,remount\n:4\n' },
    { line: 'plan --snapshot ', text: ':0\n' },
    { line: 'explain /var/l', text: ':0\n' },
    { line: 'plan --root-dir ', text: ':16\n' },
    { line: 'plan --settle ', text: ':4\n' },
    { line: `plan --cluster --snapshot ${CLUSTER} --node node-`, text: 'node-1\nnode-2\n:4\n' },
    { line: `plan --cluster --snapshot ${CLUSTER} --node-gone=node-1`, text: 'node-1\n:4\n' },
  ])('$line', async ({ line, text }) => expect((await answer(line)).replace(/^--help.*\n/m, '')).toBe(text))
})

it('kubectl_complete-volctl, as it is printed, hands the line on', () => {
  const directory = mkdtempSync(join(tmpdir(), 'volctl-plugin-'))
  const program = join(directory, 'kubectl_complete-volctl')
  writeFileSync(program, COMPLETION_SCRIPTS.kubectl, { mode: 0o755 })
  const run = (...words: string[]) =>
    execFileSync(program, words, {
      env: { ...process.env, PATH: `${ROOT}/bin:${process.env.PATH}` },
      encoding: 'utf8',
    })
  try {
    expect(run('snapsh')).toMatch(/^snapshot\t.+\n:4\n$/)
    expect(run('plan', '--only', 'unm')).toContain('unmount\n')
  } finally {
    rmSync(directory, { recursive: true })
  }
})

it('a value a line, with what it is after a tab, each once', () =>
  expect(answerText([{ value: 'ab', about: 'first' }, { value: 'ac' }, { value: 'b' }, { value: 'ab' }], 'a')).toBe(
    'ab\tfirst\nac\n',
  ))

it.each(['a\nb', 'a\tb', 'a\u001b[31m', 'a\u202e', ''])('%j is left out', (value) =>
  expect(answerText([{ value }], '')).toBe(''),
)

it('what it is must not be more than a line, nor long', () =>
  expect(
    answerText(
      [
        { value: 'a', about: 'x\ny' },
        { value: 'b', about: 'y'.repeat(100) },
      ],
      '',
    ),
  ).toBe(`a\nb\t${'y'.repeat(57)}...\n`))

it.each([
  { words: ['plan', '--kubeconfig', 'k', '--node=n'], flags: { kubeconfig: 'k', node: 'n' } },
  { words: ['plan', '--snapshot=a=b\nc'], flags: { snapshot: 'a=b\nc' } },
  { words: ['plan', '--snapshot', '', '--context'], flags: {} },
  { words: ['--constructor', 'x'], flags: {} },
])('flags of $words', ({ words, flags }) => expect(typedFlags(words)).toEqual(flags))
