/** The text of the rule books, for everything that is made from them: the program, the manual page, the checks. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = join(import.meta.dirname, '..', 'docs', 'rules')

/** In the order in which the manual has them. */
const BOOKS = ['safety', 'kubelet', 'csi', 'plugins', 'node-and-api', 'observed'] as const

/** Each book by the title in its first line. */
export function ruleBooks(): Map<string, string> {
  return new Map(
    BOOKS.map((book) => {
      const text = readFileSync(join(FOLDER, `${book}.md`), 'utf8')
      return [/^# (.+)/.exec(text)?.[1] ?? book, text]
    }),
  )
}

/** The part that is shipped with the program: only the entries. */
export function ruleEntries(): string {
  const entries = [...ruleBooks().values()].map((text) => text.match(/^- \*\*[CNOPRS]\d.*(?:\n {2}.+)*/gm) ?? [])
  return `${entries.flat().join('\n')}\n`
}
