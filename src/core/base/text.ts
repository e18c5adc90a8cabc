/** Texts: numbers in words, lists that do not grow without end, names that somebody may have meant, what a terminal may be sent. */

/** `1 pod`, `2 pods`. */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`
}

/** How many there are of each, in the order in which they first come. */
export function counted<T extends string>(all: Iterable<T>): Partial<Record<T, number>> {
  const counts: Partial<Record<T, number>> = {}
  for (const each of all) counts[each] = (counts[each] ?? 0) + 1
  return counts
}

/** `2 done, 1 failed`. @param order else that in which they first come */
export function tally<T extends string>(all: readonly T[], order: Iterable<T> = all): string {
  // The name of a plugin may be one that every object answers to.
  const same = Map.groupBy(all, (each) => each)
  return [...new Set(order)].flatMap((each) => (same.has(each) ? `${same.get(each)?.length} ${each}` : [])).join(', ')
}

/** Byte order of code units: the same on every machine, whatever its locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/**
 * For a line or a list that must not grow without end: the first texts, and in place of the others how many they are.
 *
 * @param before what is said before their number
 */
export function take(texts: readonly string[], most: number, before = ''): string[] {
  const more = texts.length - most
  return more > 0 ? [...texts.slice(0, most), `${before}${more} more`] : [...texts]
}

/** Those that there are; of texts none is empty. */
export function present<T>(...all: readonly (T | '' | 0 | false | undefined)[]): T[] {
  return all.flatMap((each) => each || [])
}

/** A list of which there is something; where it is empty, nothing is shown of it. */
export function unlessEmpty<T>(list: readonly T[] | undefined): readonly T[] | undefined {
  return list?.length ? list : undefined
}

/** Those that are alike together, in the order in which the first of each comes. */
export function alike<T>(all: Iterable<T>, keyOf: (each: T) => unknown): readonly (readonly [T, ...T[]])[] {
  return [...Map.groupBy(all, keyOf).values()] as [T, ...T[]][]
}

/** For a text of somebody else that may be of any length: its beginning, and how much is left out. */
export function firstCharacters(text: string, most = 2000): string {
  const more = text.length - most
  return more > 0 ? `${text.slice(0, most).toWellFormed()}… (${more} more characters)` : text
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** Bytes for people: `0 B`, `1.5 KiB`, `20 MiB`. */
export function byteText(bytes: number): string {
  let [value, unit] = [bytes, 0]
  while (value >= 1024 && unit < UNITS.length - 1) [value, unit] = [value / 1024, unit + 1]
  return `${unit === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`
}

// Names that somebody may have meant.

/** Those that contain the text, the shortest first, and those that are one letter away from it; whatever their capitals. */
export function nearNames(text: string, names: Iterable<string>, most: number): string[] {
  return ranked(text, names)
    .slice(0, most)
    .map(({ name }) => name)
}

function ranked(text: string, names: Iterable<string>): { readonly name: string; readonly rank: number }[] {
  const typed = text.toLowerCase()
  const near = [...new Set(names)].flatMap((name) => {
    const meant = name.toLowerCase()
    if (meant === typed || (typed.length > 2 && meant.includes(typed))) return [{ name, rank: meant.length }]
    return isOneAway(typed, meant) ? [{ name, rank: Number.MAX_VALUE }] : []
  })
  return near.toSorted((a, b) => a.rank - b.rank || compareText(a.name, b.name))
}

/** A letter is missing, too much, wrong, or in the place of its neighbour. */
function isOneAway(text: string, name: string): boolean {
  let same = 0
  while (same < text.length && text[same] === name[same]) same++
  const [typed, meant] = [text.slice(same), name.slice(same)]
  const isSwapped = typed[0] === meant[1] && typed[1] === meant[0] && typed.slice(2) === meant.slice(2)
  const isOne = [meant, meant.slice(1)].includes(typed.slice(1)) || typed === meant.slice(1)
  return text.length > 1 && (isOne || isSwapped)
}

const MOST_MEANT = 3

/**
 * Before another hint: the name that was probably meant, as a question. Nothing, where none is near. Of names that are
 * equally near none is preferred: "umount" may be mount or unmount, which do opposite things.
 */
export function didYouMean(text: string, names: Iterable<string>): string {
  const near = ranked(text, names)
  const nearest = near.filter(({ rank }) => rank === near[0]?.rank).slice(0, MOST_MEANT)
  return nearest.length === 0 ? '' : `Did you mean ${nearest.map(({ name }) => name).join(' or ')}? `
}

// Names and messages come from the cluster and from disk, where any user who may create a pod or a directory can
// choose them. Control characters in them would reach the operator's terminal (colours, cursor moves, titles), direction
// marks would make a name read as another, and what is not seen would make two names look the same: all are shown as
// escapes. The letters of every script stay, those written from right to left too.

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

// Times and durations as people and Kubernetes write them.

/** RFC 3339 in whole seconds, as Kubernetes writes times. Rounded up: no deadline passes early. @param ms since the epoch */
export function rfc3339(ms: number): string {
  return new Date(Math.ceil(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z')
}

/** A time for a person: in whole seconds. */
export function inSeconds(time: string): string {
  return time.replace(/\.\d+/, '')
}

/** Milliseconds for people: `850ms`, `12s`, `1m30s`, `2h5m`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`
  const seconds = Math.round(ms / 1000)
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  if (h > 0) return m > 0 ? `${h}h${m}m` : `${h}h`
  if (m > 0) return s > 0 ? `${m}m${s}s` : `${m}m`
  return `${s}s`
}
