import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type CodeEntry, codes, isOutsideCode, type Place } from '../../src/core/messages/code-entry.ts'
import {
  ALL_CODES,
  type BlockCode,
  CODES,
  type Code,
  codesIn,
  isCodeOf,
  outlasts,
  type WaitingCode,
} from '../../src/core/messages/codes.ts'
import {
  OF_ANY_CODE,
  OperationRefused,
  SafetyRefusal,
  StepFailed,
  said,
  VolctlError,
} from '../../src/core/messages/findings.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const files = globSync('src/**/*.ts', { cwd: ROOT }).filter(
  (file) => !/^src\/core\/messages\/(?!findings|disk-trouble)/.test(file),
)
const sources = files.map((file) => readFileSync(join(ROOT, file), 'utf8'))

describe('each code of the catalogue', () => {
  it('is in one group', () => {
    const written = globSync('src/core/messages/*.ts', { cwd: ROOT }).flatMap(
      (file) => readFileSync(join(ROOT, file), 'utf8').match(/(?<=^ {2})[A-Z]\w+(?=: \{$)/gm) ?? [],
    )
    expect(written.toSorted()).toEqual(ALL_CODES.toSorted())
  })

  it('is used somewhere', () => {
    const words = new Set(sources.flatMap((text) => text.match(/(?<=')[A-Z][A-Za-z]+(?=['.])/g) ?? []))
    expect(ALL_CODES.filter((code) => !words.has(code))).toEqual([])
  })

  it('has sentences that are said somewhere', () => {
    const used = new Set(
      sources.flatMap((text) =>
        [...text.matchAll(/(?<=\bsaid\(\s*')[\w.]+(?=')|(?<=')[A-Z]\w+\.\w+(?=')/g)].map(([id]) => id),
      ),
    )
    const all = ALL_CODES.flatMap((code) => {
      const { says }: CodeEntry = CODES[code]
      return typeof says === 'object'
        ? Object.keys(says).map((name) => `${code}.${name}`)
        : says === undefined
          ? []
          : [code]
    })
    expect(all.length).toBeGreaterThan(300)
    expect(all.filter((id) => !used.has(id))).toEqual([])
    const names = Object.keys(OF_ANY_CODE)
    expect(names.filter((name) => !sources.some((text) => text.includes(`'${name}'`)))).toEqual([])
  })

  it('is CamelCase, which no name of the system and no object of Kubernetes is', () => {
    expect(ALL_CODES.filter((code) => isOutsideCode(code) || !/^[A-Z]+[a-z][A-Za-z]+$/.test(code))).toEqual([])
  })

  it('that blocks is an outcome as well, and does not say so twice', () => {
    expect(codesIn('blocked').filter((code) => isCodeOf('outcome', code))).toEqual([])
  })
})

it('a finding has the args that its sentence names, and no others', () => {
  const sentence = 'FileDamaged.cutOff' as 'FileDamaged.cutOff' | 'FileDamaged.packed'
  const about = { subject: 'snapshot', name: 'x', part: 'the file' }
  expect(said(sentence, { ...about, why: 'unexpected end' })).toStrictEqual({
    code: 'FileDamaged',
    message: 'snapshot x: the file is cut off',
    args: about,
  })
})

it.each<[block: BlockCode, wait: WaitingCode, isSetUp: boolean, is: boolean]>([
  ['ForeignMount', 'KubeletRunning', false, true],
  ['UsersUnknown', 'KubeletRunning', false, false],
  ['DataUnderMountPoint', 'KubeletRunning', true, false],
  ['HeldBy', 'KubeletRunning', false, false],
  ['HeldBy', 'KubeletRunning', true, true],
  ['ForeignMount', 'NotAttached', true, false],
  ['OtherVolume', 'NotAttached', true, true],
])(
  'S38: what would stop an operation that waits is its cause: %s, waiting by %s, set-up %s: %s',
  (block, wait, isSetUp, is) => expect(outlasts(block, wait, isSetUp)).toBe(is),
)

/**
 * Who may compare codes: answers and views, which choose words, and the exit status of a name that nothing has. The others go when screens are
 * drawn from causes.
 */
const MAY_COMPARE = new RegExp(
  `^src/core/(?:${[
    'views/.*',
    // Rows of the controller's table, some of which are called as the codes that they give.
    'cluster/pass/detach-volumes',
    'explain/check/check-node',
    'explain/explain',
    'plan/(?:names|next-steps|plan-summary)',
  ].join('|')})\\.ts$`,
)

const LITERAL = String.raw`'([A-Z]\w+)'`
/** `code === 'X'`, the same the other way round, `case 'X':`, `['X', …].includes(code)` and `new Set(['X', …])`. */
const COMPARISONS = [
  new RegExp(String.raw`(?:\bcode|Code)\s*[!=]==?\s*${LITERAL}`, 'g'),
  new RegExp(String.raw`${LITERAL}\s*[!=]==?\s*[\w.?]*(?:\bcode|Code)\b`, 'g'),
  new RegExp(String.raw`\bcase ${LITERAL}:`, 'g'),
  /\[([^[\]]*)\](?: as const)?\.includes\([\w.?]*(?:\bcode|Code)\b/g,
  /new Set(?:<[^()]*>)?\(\[([^[\]]*)\]/g,
]

/** Reasons are words of a plan, not codes of what is wrong: an operation may be looked at by its reason. */
const decides = (word: string): boolean =>
  ALL_CODES.some((code) => code === word && CODES[code].in.some((place) => place !== 'reason'))

function comparedIn(text: string): string[] {
  const found = COMPARISONS.flatMap((pattern) => [...text.matchAll(pattern)].map(([, words = '']) => words))
  return found.flatMap((words) => words.match(/\w+/g) ?? []).filter(decides)
}

it('a decision: has a field, a class or a kind of cause of its own, and compares no code', () => {
  const compared = files.flatMap((file, at) => {
    const codes = MAY_COMPARE.test(file) ? [] : comparedIn(sources[at] ?? '')
    return codes.map((code) => `${file}: ${code}`)
  })
  expect(compared).toEqual([])
})

it.each<{ name: string; places: readonly Place[] }>([
  { name: 'new VolctlError', places: ['error'] },
  { name: '(?:new ApiError|unusable)', places: ['error'] },
  { name: 'new SafetyRefusal', places: ['refusal'] },
  { name: 'new Step\\w+', places: ['outcome', 'blocked'] },
  { name: 'new OperationRefused', places: ['outcome', 'blocked'] },
])('what is thrown stands where it is thrown: $name', ({ name, places }) => {
  const thrown = sources.flatMap((text) => [
    ...text.matchAll(new RegExp(`${name}\\(\\s*(?:'S\\d+',\\s*)?(?:said\\(|\\{ code: )'(\\w+)`, 'g')),
  ])
  expect(thrown.length).toBeGreaterThan(3)
  const elsewhere = thrown.flatMap(([, code]) => (places.some((place) => isCodeOf(place, code as Code)) ? [] : [code]))
  expect(elsewhere).toEqual([])
})

it('a code without an entry: does not compile', () => {
  // @ts-expect-error Not in the catalogue.
  new VolctlError({ code: 'NoSuchCode', message: '' })
  // @ts-expect-error Not in the catalogue.
  new StepFailed({ code: 'NoSuchCode', message: '' })
  // @ts-expect-error Not in the catalogue.
  new OperationRefused({ code: 'NoSuchCode', message: '' })
  // @ts-expect-error No sentence of the catalogue.
  said('Changed.nothing')
  // @ts-expect-error Of nothing that the sentence is about.
  said('Changed.link')
  // @ts-expect-error Of another thing.
  said('Changed.link', { link: '' })
  // @ts-expect-error An error, and no refusal.
  new SafetyRefusal('S1', { code: 'Usage', message: '' })
  // @ts-expect-error No field of an entry.
  codes({ cause: 'kubelet' })({ Waits: { in: ['waiting'], means: '', next: '', byKubelt: true } })
})

const TEXT = String.raw`(?:\w+\??\.)?(?:message|hint|remedy|command|says)`
const READS = new RegExp(
  String.raw`\.(?:exec|test)\(${TEXT}\)|\b${TEXT}\??\.(?:match|replace|replaceAll|search|split|startsWith|endsWith|includes)\(`,
)

/** Files that read texts of others, or one of volctl's own for a reason. */
const MAY_READ = new Set([
  // Examples of a command, made for oclif.
  'src/core/cli/volctl-command.ts',
  // oclif's words for a usage error.
  'src/core/cli/report-error.ts',
  // Whether a sentence has the name of what it is about already.
  'src/core/views/answer/needs.ts',
])

/** Findings carry data, and words are made last. */
it('no text of a finding, an error or a command is taken apart', () => {
  const found = files.flatMap((file, at) => {
    const isMeant = /^src\/(?:commands|core\/(?:cli|messages|plan|rules|views))\//.test(file) && !MAY_READ.has(file)
    const lines = isMeant ? (sources[at] ?? '').split('\n').filter((line) => READS.test(line)) : []
    return lines.map((line) => `${file}: ${line.trim()}`)
  })
  expect(found).toEqual([])
})
