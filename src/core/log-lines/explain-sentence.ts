/** One sentence of the catalogue by its name, as answers to lines show it: no node is looked at. */
import { sentenceView } from './explain-line.ts'
import type { SentenceExplanation } from './line-explanation.ts'
import { SENTENCES, type SentenceName } from './sentences/sentences.ts'

/** @param word as it was typed; case counts @returns undefined where no sentence has the name */
export function explainSentence(word: string): SentenceExplanation | undefined {
  if (!isSentence(word)) return undefined
  return { apiVersion: 'volctl.io/v1', kind: 'Sentence', ...sentenceView(word, undefined, undefined) }
}

function isSentence(word: string): word is SentenceName {
  return Object.hasOwn(SENTENCES, word)
}
