/** The rule books of docs/rules, for what checks that code, tests and books agree. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = join(import.meta.dirname, '..', 'docs', 'rules')

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

interface Rule {
  /** As `S11`. */
  readonly id: string
  /** In Markdown. */
  readonly text: string
}

/** Every entry: `- **S11** text. (upstream: file, function)`, lines that go on indented. */
export function allRules(): Rule[] {
  return [...ruleBooks().values()].flatMap((book) =>
    [...book.matchAll(/^- \*\*([CNOPRS]\d{1,3})\*\* (.+(?:\n {2}.+)*)/gm)].map(([, id = '', lines = '']) => {
      const [, text = ''] = /^(.+?)(?: \(upstream: .+\))?$/.exec(lines.replaceAll(/\n */g, ' ')) ?? []
      return { id, text }
    }),
  )
}
