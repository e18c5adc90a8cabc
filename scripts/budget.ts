/**
 * How large the project is, and how large it may be: budget.json. `test/budget.test.ts` compares the two.
 *
 *   node scripts/budget.ts           writes today's figures into budget.json; refuses to raise a sum
 *
 * A token is a name, a number, a string or a mark; comments count for nothing. A line is what a line feed ends.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { once } from '../src/core/base/collections.ts'

const ROOT = join(import.meta.dirname, '..')
const FILE = 'budget.json'
const SOURCE = /\.(?:ts|cjs|mjs)$/
const TOKEN = new RegExp(
  [
    String.raw`(?<comment>\/\/[^\n]*|\/\*.*?\*\/)`,
    String.raw`'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|` + String.raw`\x60(?:\\.|[^\x60\\])*\x60`,
    String.raw`[A-Za-z_$#][\p{L}\p{N}_$]*|\p{Nd}[\p{L}\p{N}_.]*`,
    String.raw`=>|\?\?=?|\?\.|\.\.\.|[=!]==?|[<>]=?|&&=?|\|\|=?|[\-+*\/%&\|\^]=?|[^\s\p{L}\p{N}_]`,
  ].join('|'),
  'gsu',
)

export interface Figures {
  readonly lines: number
  readonly tokens: number
}
type Sum = Figures & { readonly files: number }

export interface Budget {
  readonly sums: Readonly<Record<'src' | 'test', Sum>>
  /** By the name of the folder in src/core. */
  readonly folders: Readonly<Record<string, Figures>>
}

export function measure(text: string): Figures {
  let tokens = 0
  for (const { groups } of text.matchAll(TOKEN)) if (groups?.comment === undefined) tokens++
  return { lines: text.split('\n').length - 1, tokens }
}

/** Of the files that git tracks. */
export function figuresNow(): Budget {
  const none = () => ({ lines: 0, tokens: 0 })
  const sums = { src: { ...none(), files: 0 }, test: { ...none(), files: 0 } }
  const folders = new Map<string, ReturnType<typeof none>>()
  for (const name of git(['ls-files', '-z', 'src', 'test']).split('\0').toSorted()) {
    if (!SOURCE.test(name) || !existsSync(join(ROOT, name))) continue
    const { lines, tokens } = measure(readFileSync(join(ROOT, name), 'utf8'))
    const [area, core, folder, below] = name.split('/')
    const sum = sums[area === 'src' ? 'src' : 'test']
    sum.files++
    const isOfRoom = area === 'src' && core === 'core' && folder !== undefined && below !== undefined
    for (const each of isOfRoom ? [sum, once(folders, folder, none)] : [sum]) {
      each.lines += lines
      each.tokens += tokens
    }
  }
  return { sums, folders: Object.fromEntries(folders) }
}

export function budget(): Budget {
  return JSON.parse(readFileSync(join(ROOT, FILE), 'utf8'))
}

/** Every budget that was ever committed, the oldest first, and that of the working tree. */
export function budgets(): Budget[] {
  const names = git(['log', '--reverse', '--topo-order', `--format=%H:${FILE}`, '--', FILE])
  // Before each text stands a line that this format makes, and no budget has.
  const texts = git(['cat-file', '--batch=--'], names).split(/^--$/m)
  return [...texts.filter((text) => text.trim() !== '').map((text): Budget => JSON.parse(text)), budget()]
}

/** The sums that `after` raises over `before`. */
export function raised(before: Budget, after: Budget): string[] {
  return (['src', 'test'] as const).flatMap((area) =>
    (['lines', 'tokens', 'files'] as const)
      .filter((figure) => after.sums[area][figure] > before.sums[area][figure])
      .map((figure) => `${figure} of ${area}: ${before.sums[area][figure]} to ${after.sums[area][figure]}`),
  )
}

function git(args: readonly string[], input = ''): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', input, maxBuffer: 256 << 20 })
}

if (import.meta.main) {
  const now = figuresNow()
  const more = existsSync(join(ROOT, FILE)) ? raised(budget(), now) : []
  if (more.length > 0) {
    console.error(`budget: more than before, take it from somewhere else\n  ${more.join('\n  ')}`)
    process.exitCode = 1
  } else {
    writeFileSync(join(ROOT, FILE), `${JSON.stringify(now, undefined, 2)}\n`)
  }
}
