/** A code of the catalogue for people. */
import type { CodeExplanation } from '../explain/explain-code.ts'
import type { RuleExplanation } from '../explain/explain-rule.ts'
import type { Palette } from './palette.ts'
import { type Width, wrapped } from './wrap.ts'

export function renderCode(
  { code, meaning, appears, next, rules }: CodeExplanation,
  paint: Palette,
  width: Width,
): string {
  const sentence = `${meaning.replace(/^./, (first) => first.toUpperCase())}.`
  return [
    `${paint.bold(code)}\n\n`,
    wrapped('Meaning:     ', sentence, width),
    ...appears.map(({ in: place, says }, index) =>
      wrapped(index === 0 ? 'Appears in:  ' : INDENT, `${place}: ${says}`, width),
    ),
    wrapped('What to do:  ', next, width),
    rules.length === 0
      ? ''
      : wrapped(rules.length === 1 ? 'Rule:        ' : 'Rules:       ', rules.join(', '), width, paint.dim),
  ].join('')
}

const INDENT = ' '.repeat(13)

/** A rule as `volctl explain S11` shows it. */
export function renderRule({ id, about, text, upstream }: RuleExplanation, paint: Palette, width: Width): string {
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
