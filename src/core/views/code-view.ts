/** A code of the catalogue, or a rule, for people. */
import type { CodeExplanation } from '../explain/explain-code.ts'
import type { RuleExplanation } from '../explain/explain-rule.ts'
import type { Screen } from './screen.ts'
import { sentence } from './words.ts'
import { wrapped } from './wrap.ts'

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
export function renderRule({ id, about, text, upstream }: RuleExplanation, { paint, width }: Paper): string {
  return [
    wrapped('', `Rule ${id}: ${about}`, width, paint.bold),
    '\n',
    wrapped('  ', plain(text), width),
    upstream === undefined ? '' : `\n${wrapped('  Kubernetes: ', upstream, width, paint.dim)}`,
  ].join('')
}

/** Without the marks of Markdown. */
function plain(text: string): string {
  return text.replaceAll(/`([^`]*)`/g, '$1').replaceAll(/\*\*([^*]+)\*\*/g, '$1')
}
