/**
 * Names and messages come from the cluster and from disk, where anybody who may create a pod or a directory can
 * choose them. Control characters in them would reach the operator's terminal (colours, cursor moves, titles), and
 * direction marks would make a name read as another: both are shown as escapes.
 */

// C0, DEL, C1, zero-width and direction marks, line and paragraph separators, byte order mark.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to be escaped.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

/** The text with every unsafe character as `\x1b` or `\u202e`; a newline or tab as `\n`, `\t`. */
export function terminalSafe(text: string): string {
  return text.replace(UNSAFE, escapeOf)
}

/** JSON whose strings are the same to a parser and harmless to a terminal. */
export function terminalSafeJson(json: string): string {
  // JSON.stringify has escaped C0; what is left of UNSAFE stands inside strings only, but for the layout's newlines.
  return json.replace(UNSAFE, (char) => (char === '\n' ? char : `\\u${hex(char, 4)}`))
}

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\t': '\\t', '\r': '\\r' }

function escapeOf(char: string): string {
  const short = SHORT[char]
  if (short !== undefined) return short
  return char.charCodeAt(0) < 0x100 ? `\\x${hex(char, 2)}` : `\\u${hex(char, 4)}`
}

function hex(char: string, digits: number): string {
  return char.charCodeAt(0).toString(16).padStart(digits, '0')
}
