/** The texts in a source file: its string and template literals, without comments and regular expressions. */
import { parseAst } from 'vitest/node'

export interface StringLiteral {
  /** As between the quotes; a template has `${…}` for each inserted value. */
  readonly text: string
  readonly line: number
}

export function stringLiterals(source: string): readonly StringLiteral[] {
  const found: StringLiteral[] = []
  const add = (text: string, start = 0) => found.push({ text, line: source.slice(0, start).split('\n').length })
  const read = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const { type, raw = '', start, quasis = [] } = value as Node
    if (type === 'Literal' && /^['"]/.test(raw)) add(raw.slice(1, -1), start)
    if (type === 'TemplateLiteral') add(quasis.map((each) => each.value.raw).join('\u0024{…}'), start)
    for (const each of Object.values(value)) read(each)
  }
  read(parseAst(source, { lang: 'ts' }))
  return found
}

interface Node {
  readonly type?: string
  readonly raw?: string
  readonly start?: number
  readonly quasis?: readonly { readonly value: { readonly raw: string } }[]
}
