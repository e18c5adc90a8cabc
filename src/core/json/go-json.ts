/** JSON of a map of texts as Go's encoder writes it: keys in order, HTML's characters escaped (C12, C60). */
import { compareText } from '../lang/compare-text.ts'

const ESCAPED = /[<>&\u2028\u2029]/g

/** Without the newline at the end. */
export function goJson(value: Readonly<Record<string, unknown>>): string {
  const members = Object.entries(value)
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([key, each]) => `${JSON.stringify(key)}:${JSON.stringify(each)}`)
  return `{${members.join(',')}}`.replace(
    ESCAPED,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
