/** Titles of tests, for the tables that say which test shows what. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const TESTS = join(import.meta.dirname, '..')

/** One test, group of tests, or row of a table, by the text that names it in its file. */
export interface Shown {
  /** From test/. */
  readonly file: string
  readonly title: string
}

/** @param file from test/, without `.test.ts`, of either lane */
export function shown(file: string, ...titles: readonly string[]): readonly Shown[] {
  const lane = existsSync(join(TESTS, `${file}.long.test.ts`)) ? '.long' : ''
  return titles.map((title) => ({ file: `${file}${lane}.test.ts`, title }))
}

export function isThere({ file, title }: Shown): boolean {
  return hasTitle(readFileSync(join(TESTS, file), 'utf8'), title)
}

/** A call of a test or a group, a table's title, the field that names a row, or the row's first value. */
const BEFORE_TITLE =
  /(?:\b(?:it|test|describe)\b[^\n;]*\(|\](?: as const)?\)\(|\b(?:name|why|there|scenario|rule): |\n\s*\[)\s*$/

/** True if the text is in the source as the title of a test, a group, or a row of a table. */
export function hasTitle(source: string, title: string): boolean {
  return ["'", '"', '`'].some((quote) => {
    for (let at = source.indexOf(quote + title); at !== -1; at = source.indexOf(quote + title, at + 1)) {
      const end = source[at + 1 + title.length]
      // In a group's title, the reason why it is skipped may follow.
      if ((end === quote || end === '$') && BEFORE_TITLE.test(source.slice(0, at).slice(-400))) return true
    }
    return false
  })
}
