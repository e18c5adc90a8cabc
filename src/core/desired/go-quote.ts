/** Go's strconv.Quote, as the downward API writes the values of a map (P50). */

const NAMED: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
}

/** Characters that Go prints as they are: letters, marks, numbers, punctuation, symbols, and the plain space. */
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u

export function goQuote(text: string): string {
  return `"${[...text].map(quoteCharacter).join('')}"`
}

function quoteCharacter(character: string): string {
  const named = NAMED[character]
  if (named !== undefined) return named
  if (PRINTABLE.test(character)) return character
  const code = character.codePointAt(0) ?? 0
  if (code < 0x20 || code === 0x7f) return `\\x${hex(code, 2)}`
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0')
}
