/** A rule as `volctl explain S11` shows it. */
import type { RuleExplanation } from '../explain/explain-rule.ts'
import type { Palette } from './palette.ts'
import { type Width, wrapped } from './wrap.ts'

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
