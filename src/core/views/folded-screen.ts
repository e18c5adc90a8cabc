/** An answer of `volctl explain` on one screen: what gives way is named in the last line. */
import { firstFew } from '../lang/first-few.ts'
import { fitParts, type Part, screenLines } from './fit-parts.ts'
import type { Screen } from './screen.ts'
import { wrapped } from './wrap.ts'

/** Lines of a pipe, a file and a terminal that does not say. */
const ROWS = 24

/** @param always what only `-o wide` shows, whatever room there is */
export function foldedScreen(parts: readonly Part[], screen: Screen, always: readonly string[] = []): string {
  const foot = (missing: readonly string[]): string => footText([...missing, ...always], screen)
  // The last line is the shell's.
  const rows = (screen.rows ?? ROWS) - 1 - screenLines(foot(parts.flatMap(({ name }) => name ?? [])), screen.width)
  const { text, missing } = fitParts(parts, rows, screen.width)
  return `${text}${foot(missing)}`
}

/** What is folded, as much of it as a line takes. */
function footText(names: readonly string[], { paint, width }: Screen): string {
  if (names.length === 0) return ''
  const texts = names.map((_, index) => `-o wide shows all: ${firstFew(names, names.length - index).join(', ')}.`)
  const fitting = texts.find((text) => width === undefined || text.length <= width)
  return wrapped('', fitting ?? '-o wide shows all.', width, paint.dim)
}
