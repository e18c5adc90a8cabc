/**
 * Names and messages come from the cluster and from disk, where any user who may create a pod or a directory can
 * choose them. Control characters in them would reach the operator's terminal (colours, cursor moves, titles), direction
 * marks would make a name read as another, and what is not seen would make two names look the same: all are shown as
 * escapes. The letters of every script stay, those written from right to left too.
 */

/**
 * Characters without their own glyph, by Unicode's properties, which saves keeping a list of ranges:
 *
 * - `C`, other: controls (Cc: C0, DEL, C1); formats (Cf: soft hyphen, zero-width and direction marks, shapers U+206A to
 *   U+206F, interlinear annotation U+FFF9 to U+FFFB, byte order mark, tags U+E0000 to U+E007F, signs that enclose the digits
 *   after them); lone surrogates (Cs), which the terminal would be sent as U+FFFD, all alike; private use (Co) and
 *   unassigned (Cn): what a terminal shows for them, and how wide, is unknown.
 * - `Z`, separators: line and paragraph ends, and blanks that are not the one space between words.
 * - `Default_Ignorable_Code_Point`, shown as nothing although some count as letters or marks: the grapheme joiner
 *   U+034F, Hangul fillers, Khmer U+17B4 and U+17B5, Mongolian U+180B to U+180F, variation selectors, and what is reserved
 *   for more of them.
 * - Four that are blank and in none of these: Braille without dots, the place of an object, the null notehead, and the
 *   Khitan filler.
 */
const UNSAFE = /[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\ufffc\u{1d159}\u{16fe4}]--[ ]]/gv

/** The same but for the newlines of a layout. */
const UNSAFE_IN_LINES = /[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\ufffc\u{1d159}\u{16fe4}]--[ \n]]/gv

/** The text with every unsafe character as `\x1b`, `\u202e` or `\u{e0001}`; a newline or tab as `\n`, `\t`. */
export function terminalSafe(text: string): string {
  return text.replace(UNSAFE, escapeOf)
}

/** JSON whose strings are the same to a parser and harmless to a terminal. */
export function terminalSafeJson(json: string): string {
  // JSON.stringify has escaped C0; what is left stands inside strings only, but for the layout's newlines.
  return json.replace(UNSAFE_IN_LINES, utf16Escapes)
}

/** The same of YAML, if every text that is not `isTerminalSafe` is in double quotes. */
export function terminalSafeYaml(yaml: string): string {
  // Not the two halves of JSON, which YAML parsers refuse.
  return yaml.replace(UNSAFE_IN_LINES, (char) =>
    char.length > 1 ? `\\U${hex(codePoint(char), 8)}` : `\\u${hex(codePoint(char), 4)}`,
  )
}

/** Newlines are allowed. */
export function isTerminalSafe(text: string): boolean {
  return text.search(UNSAFE_IN_LINES) === -1
}

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\t': '\\t', '\r': '\\r' }

function escapeOf(char: string): string {
  const short = SHORT[char]
  if (short !== undefined) return short
  const point = codePoint(char)
  if (point < 0x100) return `\\x${hex(point, 2)}`
  return point > 0xffff ? `\\u{${hex(point, 1)}}` : `\\u${hex(point, 4)}`
}

function utf16Escapes(char: string): string {
  return Array.from({ length: char.length }, (_, index) => `\\u${hex(char.charCodeAt(index), 4)}`).join('')
}

function codePoint(char: string): number {
  return char.codePointAt(0) ?? 0
}

export function hex(number: number, digits: number): string {
  return number.toString(16).padStart(digits, '0')
}
