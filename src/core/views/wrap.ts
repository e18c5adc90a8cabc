/**
 * Prose on a terminal: broken between words, hanging under its beginning. A path or a command is never broken, so that it
 * can be copied; a command that is longer than a line begins a new one.
 */
import { chunksOf } from './command-words.ts'
import { terminalSafe } from './terminal-safe.ts'
import { textWidth } from './text-width.ts'

/** How wide the terminal is; undefined: a pipe or a file, in which a line stays whole. */
export type Width = number | undefined

/** What is left for words where the indent takes nearly all. */
const LEAST = 20

/**
 * @param first what stands before the text in its first line, as it is; the other lines are indented by its width
 * @param paint colours the text, line by line
 */
export function wrapped(first: string, text: string, width: Width, paint: (line: string) => string = same): string {
  const safe = terminalSafe(text)
  if (width === undefined) return `${`${first}${paint(safe)}`.trimEnd()}\n`
  const indent = ' '.repeat(textWidth(first))
  return linesOf(safe, Math.max(width - textWidth(first), LEAST))
    .map((line, index) => `${`${index === 0 ? first : indent}${paint(line)}`.trimEnd()}\n`)
    .join('')
}

const same = (line: string): string => line

function linesOf(text: string, width: number): string[] {
  if (textWidth(text) <= width) return [text]
  const lines: string[] = []
  let line = ''
  const end = (): void => {
    if (line !== '') lines.push(line)
    line = ''
  }
  for (const { text: words, isCommand } of chunksOf(text)) {
    if (line !== '' && textWidth(line) + 1 + textWidth(words) > width) end()
    if (isCommand && textWidth(words) > width) {
      // The mark behind it would be copied too; a semicolon does no harm.
      lines.push(words.replace(/[.,:]$/, ''))
    } else line = line === '' ? words : `${line} ${words}`
  }
  end()
  return lines
}
