/** Words that volctl itself explains, whatever node this is: its codes. */

import { type CodeExplanation, explainCode } from '../explain/explain-code.ts'
import { type Screen, sentence, wrapped } from '../views/screen.ts'
import type { Answered } from './line-answers.ts'

/** @returns undefined where the word is not one of volctl's */
export function ownAnswer(word: string): Answered | undefined {
  const code = explainCode(word)
  return code && { value: code, draw: (screen) => renderCode(code, screen), names: [word] }
}

export function renderCode({ code, meaning, appears, next, rules }: CodeExplanation, { paint, width }: Screen): string {
  const label = rules.length === 1 ? 'Rule:        ' : 'Rules:       '
  return [
    `${paint.bold(code)}\n\n`,
    wrapped('Meaning:     ', sentence(meaning), width),
    ...appears.map(({ in: place, says }, index) =>
      wrapped(index === 0 ? 'Appears in:  ' : INDENT, `${place}: ${says}`, width),
    ),
    wrapped('What to do:  ', next, width),
    rules.length === 0 ? '' : wrapped(label, rules.join(', '), width, paint.dim),
  ].join('')
}

const INDENT = ' '.repeat(13)
