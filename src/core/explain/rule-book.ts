import { defined } from '../lang/defined.ts'
/** The rule books of docs/rules, read: `- **S11** text. (upstream: file, function)`, lines that go on indented. */

export interface Rule {
  readonly id: string
  readonly text: string
  /** Kubernetes' file and function that the rule was read from. */
  readonly upstream?: string
}

/** Whether it is written like the number of a rule; there need not be one. */
export function looksLikeRule(text: string): boolean {
  return /^[CNOPRS]\d{1,3}$/i.test(text)
}

/** @param books one book or several, as they are written; what is no entry is passed over */
export function parseRules(books: string): Rule[] {
  return [...books.matchAll(/^- \*\*([CNOPRS]\d{1,3})\*\* (.+(?:\n {2}.+)*)/gm)].map(([, id = '', lines = '']) => {
    const [, text = '', upstream] = /^(.+?)(?: \(upstream: (.+)\))?$/.exec(lines.replaceAll(/\n */g, ' ')) ?? []
    return { id, text, ...defined({ upstream }) }
  })
}
