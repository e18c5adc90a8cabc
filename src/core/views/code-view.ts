/** A code of the catalogue for people. */
import type { CodeExplanation } from '../explain/explain-code.ts'
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
