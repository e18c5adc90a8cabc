/** Words that volctl itself explains, whatever node this is: codes and rules; and which of them somebody may have meant. */

import { NotFound, VolctlError } from '../base/errors.ts'
import { nearNames } from '../base/near-names.ts'
import {
  type CodeExplanation,
  explainCode,
  explainRule,
  looksLikeRule,
  parseRules,
  type RuleExplanation,
  shippedRules,
} from '../explain/rule-book.ts'
import { ALL_CODES } from '../messages/codes.ts'
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

const MOST_MEANT = 3

/**
 * The error of a look for a word, with the words of volctl's own that were probably meant. A word in CamelCase, or one written like a
 * rule, can be no name of Kubernetes: then also where no node can be looked at.
 */
export function withOwnWords(error: unknown, word: string, root: string): unknown {
  if (!(error instanceof VolctlError)) return error
  const near = nearWords(word, root)
  const isOwn = /^[A-Z][a-z]+(?:[A-Z][a-z]*)*$/.test(word) || looksLikeRule(word)
  if (near.length === 0) return error
  const hint = `Did you mean ${near.join(' or ')}?`
  if (!(error instanceof NotFound))
    return isOwn ? new NotFound(`no code or rule is called "${word}"`, { hint, cause: error }) : error
  // A thing of the node that is near comes first where the word may name one.
  if (!isOwn && error.hint?.startsWith('Did you mean') === true) return error
  return new NotFound(error.message, { hint, cause: error })
}

function nearWords(word: string, root: string): string[] {
  // A word without digits or marks.
  if (!looksLikeRule(word)) return /^[a-z]{3,}$/i.test(word) ? nearNames(word, ALL_CODES, MOST_MEANT) : []
  // Of the same letter, the nearest numbers: a number is read wrong more easily than a letter.
  const far = (id: string): number => Math.abs(Number(id.slice(1)) - Number(word.slice(1)))
  const ids = parseRules(shippedRules(root)).map(({ id }) => id)
  return ids
    .filter((id) => id[0] === word[0]?.toUpperCase())
    .toSorted((one, other) => far(one) - far(other))
    .slice(0, MOST_MEANT)
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
