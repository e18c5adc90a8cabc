/** Growth of VmHWM in lists of such values, measured (Node 26). */
const CONTAINER = 80
const TEXT = 40
const OTHER = 16
/** For shorter texts the difference is small. */
const LONG_TEXT = 64

/** About how many bytes of memory a value of JSON takes; two bytes of an answer can become a hundred. */
export function weightOf(value: unknown): number {
  if (typeof value === 'string') return TEXT + value.length * (value.length > LONG_TEXT && isWide(value) ? 2 : 1)
  if (typeof value !== 'object' || value === null) return OTHER
  let weight = CONTAINER
  if (Array.isArray(value)) for (const each of value) weight += weightOf(each)
  // No list of its values is made: what JSON.parse makes has no names but its own, even `__proto__`.
  else for (const name in value) weight += weightOf((value as Record<string, unknown>)[name])
  return weight
}

/** V8 stores a text with one byte for each character, or with two. */
function isWide(text: string): boolean {
  return /[\u0100-\uffff]/.test(text)
}
