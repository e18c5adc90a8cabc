/** The texts in a source file: its string and template literals, without comments and regular expressions. */

export interface StringLiteral {
  /** As between the quotes; a template has `${…}` for each inserted value. */
  readonly text: string
  readonly line: number
}

/** After these, a slash begins a regular expression, not a division. */
const BEFORE_REGEX = /(?:^|[=(,:;!&|?{}[\]+\-*%<>~^]|=>|\b(?:return|typeof|case|in|of|await|throw))\s*$/

/** Reads TypeScript by its quotes alone: comments, texts, templates within templates, regular expressions. */
export function stringLiterals(source: string): readonly StringLiteral[] {
  const found: StringLiteral[] = []
  readCode(source, 0, found)
  return found.toSorted((a, b) => a.line - b.line)
}

/** @returns where it stopped: at the end, or at a brace that was not opened in it */
function readCode(source: string, from: number, found: StringLiteral[]): number {
  let at = from
  let depth = 0
  while (at < source.length) {
    const char = source[at]
    if (source.startsWith('//', at)) at = endOf(source, '\n', at)
    else if (source.startsWith('/*', at)) at = endOf(source, '*/', at)
    else if (char === "'" || char === '"') at = readString(source, at, found)
    else if (char === '`') at = readTemplate(source, at, found)
    else if (char === '/' && BEFORE_REGEX.test(source.slice(Math.max(0, at - 40), at))) at = endOfRegex(source, at)
    else {
      if (char === '{') depth++
      if (char === '}' && depth-- === 0) return at
      at++
    }
  }
  return at
}

function endOf(source: string, what: string, from: number): number {
  const at = source.indexOf(what, from)
  return at === -1 ? source.length : at + what.length
}

function readString(source: string, from: number, found: StringLiteral[]): number {
  let at = from + 1
  while (at < source.length && source[at] !== source[from]) at += source[at] === '\\' ? 2 : 1
  found.push({ text: source.slice(from + 1, at), line: lineOf(source, from) })
  return at + 1
}

function readTemplate(source: string, from: number, found: StringLiteral[]): number {
  let text = ''
  let at = from + 1
  while (at < source.length && source[at] !== '`') {
    if (source.startsWith('${', at)) {
      at = readCode(source, at + 2, found) + 1
      text += `\${…}`
    } else {
      const length = source[at] === '\\' ? 2 : 1
      text += source.slice(at, at + length)
      at += length
    }
  }
  found.push({ text, line: lineOf(source, from) })
  return at + 1
}

function endOfRegex(source: string, from: number): number {
  let at = from + 1
  let inClass = false
  while (at < source.length && (inClass || source[at] !== '/') && source[at] !== '\n') {
    if (source[at] === '[') inClass = true
    if (source[at] === ']') inClass = false
    at += source[at] === '\\' ? 2 : 1
  }
  return at + 1
}

function lineOf(source: string, at: number): number {
  return source.slice(0, at).split('\n').length
}
