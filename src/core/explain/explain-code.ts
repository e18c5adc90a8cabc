/** What volctl says of one of its own codes. */
import { type CodeEntry, PLACES, type Place } from '../messages/code-entry.ts'
import { CODES, type Code, nextOf } from '../messages/codes.ts'

/** What `volctl explain CODE -o json` prints. */
export interface CodeExplanation {
  readonly apiVersion: 'volctl.io/v1'
  readonly kind: 'Code'
  readonly code: Code
  readonly meaning: string
  /** Where it may appear. */
  readonly appears: readonly { readonly in: Place; readonly says: string }[]
  /** What to do. */
  readonly next: string
  /** Rules that it comes from, the most important one first; empty: none is known. */
  readonly rules: readonly string[]
}

/**
 * @param word as it was typed. Codes are CamelCase, and names in Kubernetes are in lower case: one cannot be taken for the other.
 * @returns undefined where the catalogue has no such code; case counts
 */
export function explainCode(word: string): CodeExplanation | undefined {
  if (!isCode(word)) return undefined
  const { in: places, means: meaning, rules = [] }: CodeEntry = CODES[word]
  const appears = places.map((place) => ({ in: place, says: PLACES[place] }))
  return { apiVersion: 'volctl.io/v1', kind: 'Code', code: word, meaning, appears, next: nextOf(word), rules }
}

function isCode(word: string): word is Code {
  return Object.hasOwn(CODES, word)
}
