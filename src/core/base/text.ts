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
