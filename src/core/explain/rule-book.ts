/** The rule books of docs/rules, read: `- **S11** text. (upstream: file, function)`, lines that go on indented. */
import { join } from 'node:path'
import { defined } from '../lang/defined.ts'
import { embeddedText } from '../trust/own-program.ts'
import { readPlain } from '../trust/plain-files.ts'

/** What the build puts beside the bundle, or into the executable. */
const SHIPPED = 'rules.md'
const MOST_OF_RULES = 1 << 20

export interface Rule {
  /** As `S11`. */
  readonly id: string
  /** What the rule says, in Markdown. */
  readonly text: string
  /** The file and function of Kubernetes that the rule was read from. */
  readonly upstream?: string
}

/** Whether it is written like the number of a rule; there need not be one. */
export function looksLikeRule(text: string): boolean {
  return /^[CNOPRS]\d{1,3}$/i.test(text)
}

/** The text of all books, as it came with this volctl. @param root where volctl is installed */
export function shippedRules(root: string): string {
  return embeddedText(SHIPPED) ?? readPlain(join(root, 'dist', SHIPPED), MOST_OF_RULES).toString('utf8')
}

/** @param books one book or several, as they are written; what is no entry is passed over */
export function parseRules(books: string): Rule[] {
  return [...books.matchAll(/^- \*\*([CNOPRS]\d{1,3})\*\* (.+(?:\n {2}.+)*)/gm)].map(([, id = '', lines = '']) => {
    const [, text = '', upstream] = /^(.+?)(?: \(upstream: (.+)\))?$/.exec(lines.replaceAll(/\n */g, ' ')) ?? []
    return { id, text, ...defined({ upstream }) }
  })
}
