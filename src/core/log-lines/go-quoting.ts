/** Text in quotes as Go writes it (strconv.Quote), once or inside each other. Each function goes through the text once. */

const QUOTED = /"((?:[^"\\]|\\.)*)"/sy
const ESCAPE = /\\(x[\da-f]{2}|u[\da-f]{4}|U[\da-f]{8}|.)/gis
const LETTERS: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', f: '\f', v: '\v' }

export interface Quoted {
  readonly value: string
  /** Of the character after the closing quote. */
  readonly end: number
}

/** @param start of the opening quote @returns undefined where the quote is never closed */
export function unquoteAt(text: string, start: number): Quoted | undefined {
  QUOTED.lastIndex = start
  const [, inside] = QUOTED.exec(text) ?? []
  if (inside === undefined) return undefined
  return { value: inside.replaceAll(ESCAPE, (_, code: string) => characterOf(code)), end: QUOTED.lastIndex }
}

function characterOf(code: string): string {
  if (code.length === 1) return LETTERS[code] ?? code
  const point = Number.parseInt(code.slice(1), 16)
  return point <= 0x10ffff ? String.fromCodePoint(point) : '\ufffd'
}

/** Every quote of whatever depth as a plain one, every written line break as one: `\\\"a\\\"` and `\"a\"` are "a". */
export function flattened(text: string): string {
  return text.replaceAll(/(\\+)(["ntr]?)/g, (all, _, next: string) => FLAT[next] ?? all)
}

const FLAT: Readonly<Record<string, string>> = { '"': '"', n: '\n', t: ' ', r: ' ' }
