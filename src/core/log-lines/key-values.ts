/** key=value as klog, logrus and slog write them: quoted, bare, a list, or klog's text of several lines in `<` and `>`. */
import { unquoteAt } from './go-quoting.ts'

const KEY = /[A-Za-z_][\w.-]{0,63}=/y

interface Value {
  readonly value: string
  readonly end: number
}

/** @param from where the first key is, or blanks before it. What is no pair ends the reading. */
export function keyValues(text: string, from: number): Map<string, string> {
  const found = new Map<string, string>()
  for (let at = skipBlanks(text, from); at < text.length; ) {
    KEY.lastIndex = at
    const [key] = KEY.exec(text) ?? []
    if (key === undefined) break
    const { value, end } = valueAt(text, at + key.length)
    found.set(key.slice(0, -1), value)
    at = skipBlanks(text, end)
  }
  return found
}

function skipBlanks(text: string, from: number): number {
  let at = from
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\t') at++
  return at
}

function valueAt(text: string, start: number): Value {
  const first = text[start]
  if (first === '"') return unquoteAt(text, start) ?? rest(text, start + 1)
  if (first === '<' && text[start + 1] === '\n') return severalLines(text, start + 2)
  if (first === '[' || first === '{') return bracketed(text, start)
  const end = text.indexOf(' ', start)
  return end === -1 ? rest(text, start) : { value: text.slice(start, end), end }
}

function rest(text: string, start: number): Value {
  return { value: text.slice(start), end: text.length }
}

/** klog: each line after a tab, and ` >` alone at the end. */
function severalLines(text: string, start: number): Value {
  const end = text.indexOf('\n >', start)
  const value = (end === -1 ? text.slice(start) : text.slice(start, end)).replaceAll('\n\t', '\n').replace(/^\t/, '')
  return { value, end: end === -1 ? text.length : end + 3 }
}

/** To the bracket that closes the first one; quotes hide brackets. */
function bracketed(text: string, start: number): Value {
  let depth = 0
  for (let at = start; at < text.length; ) {
    const char = text[at] ?? ''
    if (char === '"') {
      at = unquoteAt(text, at)?.end ?? text.length
      continue
    }
    if ('[{'.includes(char)) depth++
    if (']}'.includes(char)) depth--
    at++
    if (depth === 0) return { value: text.slice(start, at), end: at }
  }
  return rest(text, start)
}
