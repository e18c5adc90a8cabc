/** What one code means and what to do about it, from the catalogue alone: no node is looked at, and no API asked. */
import { type CodeEntry, PLACES, type Place } from '../codes/code-entry.ts'
import { ALL_CODES, CODES, type Code } from '../codes/codes.ts'
import { about } from '../json/json-schema.ts'
import { code, list, object, oneOf, type ShapeOf, text } from '../json/shape.ts'

export const codeShape = object({
  apiVersion: oneOf('volctl.io/v1'),
  kind: oneOf('Code'),
  code: code(ALL_CODES),
  meaning: text,
  appears: about(
    'Where it may appear.',
    list(object({ in: oneOf(...(Object.keys(PLACES) as readonly Place[])), says: text })),
  ),
  next: about('What to do.', text),
  rules: about('Rules that it comes from, the most important one first; empty: none is known.', list(text)),
})

export interface CodeExplanation extends ShapeOf<typeof codeShape> {}

/**
 * @param word as it was typed. Codes are CamelCase, and names in Kubernetes are in lower case: one cannot be taken for the other.
 * @returns undefined where the catalogue has no such code; case counts
 */
export function explainCode(word: string): CodeExplanation | undefined {
  if (!isCode(word)) return undefined
  const { in: places, means: meaning, next, rules = [] }: CodeEntry = CODES[word]
  const appears = places.map((place) => ({ in: place, says: PLACES[place] }))
  return { apiVersion: 'volctl.io/v1', kind: 'Code', code: word, meaning, appears, next, rules }
}

function isCode(word: string): word is Code {
  return Object.hasOwn(CODES, word)
}
