/** Findings carry data, and words are made last: nothing that decides, plans or draws reads a text of volctl's own again. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const TEXT = String.raw`(?:\w+\??\.)?(?:message|hint|remedy|command|says)`
const READS = new RegExp(
  String.raw`\.(?:exec|test)\(${TEXT}\)|\b${TEXT}\??\.(?:match|replace|replaceAll|search|split|startsWith|endsWith|includes)\(`,
)

/** Files that read texts of others, or one of volctl's own for a reason. */
const MAY_READ = new Set([
  // oclif's words for a usage error.
  'src/core/cli/usage-error.ts',
  // Whether a hint is a question already.
  'src/core/cli/sentence.ts',
  // Whether a sentence has the name of what it is about already.
  'src/core/views/answer/needs.ts',
])

it('no text of a finding, an error or a command is taken apart', () => {
  const files = globSync(['src/commands/*.ts', 'src/core/{cli,messages,plan,rules,views}/**/*.ts'], { cwd: ROOT })
  expect(files.length).toBeGreaterThan(100)
  const found = files.flatMap((file) =>
    readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .flatMap((line) => (READS.test(line) && !MAY_READ.has(file) ? `${file}: ${line.trim()}` : [])),
  )
  expect(found).toEqual([])
})
