/** Words that volctl itself explains, whatever node this is: codes and rules. */

import {
  type CodeExplanation,
  explainCode,
  explainRule,
  looksLikeRule,
  type RuleExplanation,
  shippedRules,
} from '../explain/rule-book.ts'
import { sentence } from '../views/format.ts'
import type { Screen } from '../views/screen.ts'
import { wrapped } from '../views/wrap.ts'
import type { Answered } from './line-answers.ts'

/** @param root where the program is installed @returns undefined where the word is not one of volctl's */
export function ownAnswer(word: string, root: string): Answered | undefined {
  const code = explainCode(word)
  if (code !== undefined) return { value: code, draw: (screen) => renderCode(code, screen), names: [word] }
  if (!looksLikeRule(word)) return undefined
  const rule = explainRule(word, shippedRules(root))
  // Where there is no such rule, the word may be the name of something.
  return rule && { value: rule, draw: (screen) => renderRule(rule, screen), names: [word] }
}

type Paper = Pick<Screen, 'paint' | 'width'>

export function renderCode({ code, meaning, appears, next, rules }: CodeExplanation, { paint, width }: Paper): string {
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

/** A rule as `volctl explain S11` shows it. */
function renderRule({ id, about, text, upstream }: RuleExplanation, { paint, width }: Paper): string {
  return [
    wrapped('', `Rule ${id}: ${about}`, width, paint.bold),
    '\n',
    // Without the marks of Markdown.
    wrapped('  ', text.replaceAll(/`([^`]*)`/g, '$1').replaceAll(/\*\*([^*]+)\*\*/g, '$1'), width),
    upstream === undefined ? '' : `\n${wrapped('  Kubernetes: ', upstream, width, paint.dim)}`,
  ].join('')
}
