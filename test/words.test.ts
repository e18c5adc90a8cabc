/** Words of docs/dev/words.md: what a person reads of volctl has none of the phrases that have to be read twice. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { commandManifest } from '../scripts/manifest.ts'
import { EXIT_MEANINGS } from '../src/core/cli/exit-meanings.ts'
import { CODES } from '../src/core/codes/codes.ts'
import { stringLiterals } from './helpers/string-literals.ts'

const ROOT = join(import.meta.dirname, '..')

/** What not to say. What to say instead is in docs/dev/words.md. */
const BANNED: readonly RegExp[] = [
  /\bof (which|whom)\b/i,
  /\b(bears?|bearing|borne)\b/i,
  /\b(tells?|told|untold)\b/i,
  /\b(?<!there )(is|are) none\b/i,
  /\bhad\b/i,
  /\banew\b/i,
  /\bl(ies|ie|ay) over\b/i,
  /\bstays? so\b/i,
  /\banybody between\b/i,
  /\bturned back\b/i,
  /\bnone of (its|our|their) business\b/i,
  /\bto be (seen|had)\b/i,
  /\b(lift|lifts|lifted|lifting) (a |the )?guards?\b/i,
  /\bso that (no|nobody|nothing)\b/i,
  /\bsomebody other than\b/i,
  /\bof (its|their) own\b/i,
  // "It ends", "the kubelet mounts it"; else "alone", "separately", "unasked".
  /\bby (itself|themselves)\b/i,
  // A clause before its subject; "Where bash finds it, or elsewhere" and "/** Where the kubelet keeps it, by pod. */" are none.
  /(^|[.;:] |(?<!\/)\*\* )Where [^.,:]+, (?!or\b|if\b)/,
]

interface Text {
  readonly where: string
  readonly text: string
}

/** Texts that are no sentences of volctl, by their file: what is matched is somebody else's word. */
const EXCEPTIONS: readonly Text[] = [
  // Compared in test/privileged/set-up/local.test.ts.
  { where: 'src/core/apply/expand/local-expand.ts', text: 'no size of its own' },
]

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

/** Literals of at least two words: a single one is a name, a key or a flag. */
function sourceTexts(): Text[] {
  return globSync('src/**/*.ts', { cwd: ROOT })
    .filter((file) => !file.includes('/gen/'))
    .flatMap((file) =>
      stringLiterals(read(file))
        .filter(({ text }) => /[a-z]{2,}[,;:]? .*[a-z]{2}/i.test(text))
        .map(({ text, line }) => ({ where: `${file}:${line}`, text })),
    )
}

/** Comments, a line each. */
function commentTexts(): Text[] {
  return globSync(['src/**/*.ts', 'scripts/**/*.{ts,cjs}', 'test/helpers/**/*.ts'], { cwd: ROOT })
    .filter((file) => !file.includes('/gen/'))
    .flatMap((file) =>
      read(file)
        .split('\n')
        .flatMap((line, index) => {
          const [text] = /^\s*\*.*|(?:^|\s)(?:\/\/ |\/\*).*/.exec(line) ?? []
          return text === undefined ? [] : [{ where: `${file}:${index + 1}`, text }]
        }),
    )
}

function catalogueTexts(): Text[] {
  return Object.entries(CODES).flatMap(([code, { means, next }]) =>
    [means, next].map((text) => ({ where: `code ${code}`, text })),
  )
}

async function helpTexts(): Promise<Text[]> {
  const { commands } = await commandManifest()
  const meanings = Object.entries(EXIT_MEANINGS).flatMap(([status, each]) =>
    Object.values(each).map((text) => ({ where: `exit status ${status}`, text })),
  )
  const help = Object.entries(commands).flatMap(([id, { summary, description, flags, args, examples = [] }]) =>
    [
      ...[summary, description],
      ...Object.values(flags).flatMap((flag) => [flag.summary, flag.helpGroup]),
      ...Object.values(args).map((arg) => arg.description),
      ...examples.map((each) => (typeof each === 'string' ? each : each.description)),
    ].flatMap((text) => (text === undefined ? [] : [{ where: `help of ${id}`, text }])),
  )
  return [...meanings, ...help]
}

/** The manual by its sources and as it is printed, the documentation, what the schemas say of fields. */
function pageTexts(): Text[] {
  const pages = globSync(['man/src/*.md', 'man/*.[78]', 'schema/*.json', 'docs/**/*.md', '*.md'], { cwd: ROOT })
  // The list of words quotes what not to say.
  const files = pages.filter((file) => file !== 'docs/dev/words.md')
  return files.flatMap((file) =>
    read(file)
      .split('\n')
      .map((text, index) => ({ where: `${file}:${index + 1}`, text })),
  )
}

/** Screens that tests compare with: what is composed of several texts stands there whole. */
function goldenTexts(): Text[] {
  return globSync('test/**/*.test.ts', { cwd: ROOT }).flatMap((file) =>
    [...read(file).matchAll(/toMatchInlineSnapshot\(`((?:\\.|[^`\\])*)`/g)].map(([, text = '']) => ({
      where: file,
      text,
    })),
  )
}

function found(texts: readonly Text[]): string[] {
  const isExcepted = ({ where, text }: Text): boolean =>
    EXCEPTIONS.some((each) => where.startsWith(each.where) && text.includes(each.text))
  return texts
    .filter((each) => !isExcepted(each))
    .flatMap(({ where, text }) =>
      BANNED.flatMap((banned) => (banned.test(text) ? [`${where}: ${banned.exec(text)?.[0]}: ${text.trim()}`] : [])),
    )
}

it.each<{ of: string; texts: () => Text[] | Promise<Text[]>; least: number }>([
  { of: 'messages in the source', texts: sourceTexts, least: 1000 },
  { of: 'comments in the source, the scripts and the parts of tests', texts: commentTexts, least: 1000 },
  { of: 'the catalogue of codes', texts: catalogueTexts, least: 200 },
  { of: 'the help of every command', texts: helpTexts, least: 100 },
  { of: 'the manual, the documentation and the schemas', texts: pageTexts, least: 1000 },
  { of: 'golden screens', texts: goldenTexts, least: 5 },
])('$of', async ({ texts, least }) => {
  const all = await texts()
  expect(all.length).toBeGreaterThan(least)
  expect(found(all)).toEqual([])
})

it('the scanner reads texts, and no comments, regular expressions or code', () => {
  const source = [
    "const a = 'one two' // 'no'",
    `/* \`no\` */ const b = /["'\`]/.test(c) ? \`x \${d ? \`y \${e}\` : "it's"} z\` : f / g / h`,
    "const i = 'don\\'t' + j['k']",
  ].join('\n')
  expect(stringLiterals(source)).toEqual([
    { text: 'one two', line: 1 },
    { text: `y \${…}`, line: 2 },
    { text: "it's", line: 2 },
    { text: `x \${…} z`, line: 2 },
    { text: "don\\'t", line: 3 },
    { text: 'k', line: 3 },
  ])
})
