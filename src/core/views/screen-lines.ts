/** How much room a text takes on a terminal. */
import { stripVTControlCharacters } from 'node:util'
import type { Screen } from './screen.ts'
import { textWidth } from './text-width.ts'
import type { Width } from './wrap.ts'

/**
 * Whether the text takes more lines than the terminal has beside the shell's prompt. A terminal that does not say its size, or half
 * of it, is a program's (expect, a container without a console), where nobody may be who turns pages.
 */
export function fillsScreen(text: string, { rows, width }: Pick<Screen, 'rows' | 'width'>): boolean {
  return rows !== undefined && width !== undefined && screenLines(text, width) >= rows
}

/** Lines on the terminal: one that is too wide for it takes several. */
export function screenLines(text: string, width: Width): number {
  const lines = text.split('\n').slice(0, -1)
  if (width === undefined) return lines.length
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(textWidth(stripVTControlCharacters(line)) / width)), 0)
}
