/** Text in quotes as Go writes it (strconv.Quote), once or inside each other. Each function goes through the text once. */

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', f: '\f', v: '\v' }
/** Digits of an escaped character by the letter before them. */
const HEX_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 }

export interface Quoted {
  readonly value: string
  /** Of the character after the closing quote. */
  readonly end: number
}

/** @param start of the opening quote @returns undefined where the quote is never closed */
export function unquoteAt(text: string, start: number): Quoted | undefined {
  const parts: string[] = []
  for (let at = start + 1; at < text.length; ) {
    const char = text[at]
    if (char === '"') return { value: parts.join(''), end: at + 1 }
    if (char === '\\') {
      const { value, end } = escapeAt(text, at)
      parts.push(value)
      at = end
    } else {
      const next = nextSpecial(text, at)
      parts.push(text.slice(at, next))
      at = next
    }
  }
  return undefined
}

function nextSpecial(text: string, from: number): number {
  let at = from
  while (at < text.length && text[at] !== '"' && text[at] !== '\\') at++
  return at
}

function escapeAt(text: string, backslash: number): Quoted {
  const letter = text[backslash + 1] ?? ''
  const digits = HEX_DIGITS[letter]
  if (digits !== undefined) {
    const end = backslash + 2 + digits
    const code = text.slice(backslash + 2, end)
    if (code.length === digits && /^[0-9a-fA-F]+$/.test(code)) return { value: charOf(Number.parseInt(code, 16)), end }
  }
  return { value: ESCAPES[letter] ?? letter, end: backslash + 2 }
}

function charOf(point: number): string {
  return point <= 0x10ffff ? String.fromCodePoint(point) : '\ufffd'
}

/** On one line, with every quote of whatever depth as a plain one: `\\\"a\\\"` and `\"a\"` are "a"; `\n` is a blank. */
export function flattened(text: string): string {
  const parts: string[] = []
  for (let at = 0; at < text.length; ) {
    const start = text.indexOf('\\', at)
    if (start === -1) {
      parts.push(text.slice(at))
      break
    }
    let end = start
    while (text[end] === '\\') end++
    parts.push(text.slice(at, start))
    const next = text[end] ?? ''
    if (next === '"') at = end
    else if (next === 'n' || next === 't' || next === 'r') {
      parts.push(' ')
      at = end + 1
    } else {
      parts.push(text.slice(start, end))
      at = end
    }
  }
  return parts.join('').replaceAll(/[\n\r\t]/g, ' ')
}
