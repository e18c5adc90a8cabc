/** What volctl says of one of its own codes. */
import { type CodeEntry, PLACES } from '../messages/code-entry.ts'
import { ALL_CODES, CODES, nextOf } from '../messages/codes.ts'

/** What `volctl explain CODE -o json` prints. */
export type CodeExplanation = NonNullable<ReturnType<typeof explainCode>>

/**
 * @param word as it was typed. Codes are CamelCase, and names in Kubernetes are in lower case: one cannot be taken for the other.
 * @returns undefined where the catalogue has no such code; case counts
 */
export function explainCode(word: string) {
  const code = ALL_CODES.find((each) => each === word)
  if (code === undefined) return undefined
  const { in: places, means: meaning, rules = [] }: CodeEntry = CODES[code]
  return {
    apiVersion: 'volctl.io/v1',
    kind: 'Code',
    code,
    meaning,
    /** Where it may appear. */
    appears: places.map((place) => ({ in: place, says: PLACES[place] })),
    /** What to do. */
    next: nextOf(code),
    /** Rules that it comes from, the most important one first; empty: none is known. */
    rules,
  }
}
