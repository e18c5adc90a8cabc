/** Parts of a text that has to fit on a screen, each in several forms: taken are the longest forms that leave room for the others. */
import { stripVTControlCharacters } from 'node:util'
import type { Screen } from './screen.ts'
import { textWidth } from './text-width.ts'
import type { Width } from './wrap.ts'

export interface Part {
  /** From the shortest to the longest; '' where it may be left out. */
  readonly forms: readonly string[]
  /** Parts with a smaller number grow first. */
  readonly rank: number
  /** Forms by which it is ahead of the others; absent: none. */
  readonly ahead?: number
  /** What is missing where it is not in its longest form. */
  readonly name?: string
}

export interface Fitted {
  readonly text: string
  /** Names of parts that are not shown in full. */
  readonly missing: readonly string[]
}

/**
 * What must be shown is shown, even where that alone is longer than the screen.
 *
 * @param parts in the order in which they are shown
 * @param rows lines that they may take
 */
export function fitParts(parts: readonly Part[], rows: number, width: Width): Fitted {
  const sizes = parts.map(({ forms }) => forms.map((form) => screenLines(form, width)))
  const chosen = parts.map(() => 0)
  const sizeAt = (part: number, form: number): number => sizes[part]?.[form] ?? 0
  let used = parts.reduce((sum, _, index) => sum + sizeAt(index, 0), 0)
  const order = parts.map((_, index) => index).toSorted((a, b) => rankOf(parts, a) - rankOf(parts, b))
  const levels = Math.max(0, ...parts.map(({ forms }) => forms.length))
  for (let level = 1; level < levels; level++) {
    for (const index of order) {
      for (let form = level; form <= level + (parts[index]?.ahead ?? 0); form++) {
        if (parts[index]?.forms[form] === undefined || form <= (chosen[index] ?? 0)) continue
        const size = used - sizeAt(index, chosen[index] ?? 0) + sizeAt(index, form)
        if (size > rows) continue
        used = size
        chosen[index] = form
      }
    }
  }
  return {
    text: parts.map(({ forms }, index) => forms[chosen[index] ?? 0] ?? '').join(''),
    missing: parts.flatMap(({ forms, name }, index) =>
      name !== undefined && forms[chosen[index] ?? 0] !== forms.at(-1) ? [name] : [],
    ),
  }
}

function rankOf(parts: readonly Part[], index: number): number {
  return parts[index]?.rank ?? 0
}

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
