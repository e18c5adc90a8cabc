/** Prose on a terminal: broken between words, hanging under its beginning. A path is never broken, so that it can be copied. */
import { asCalled } from '../trust/called-as.ts'
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
  const indent = ' '.repeat(textWidth(first))
  return linesOf(
    terminalSafe(asCalled(text)),
    width === undefined ? undefined : Math.max(width - textWidth(first), LEAST),
  )
    .map((line, index) => `${`${index === 0 ? first : indent}${paint(line)}`.trimEnd()}\n`)
    .join('')
}

const same = (line: string): string => line

function linesOf(text: string, width: Width): string[] {
  if (width === undefined || textWidth(text) <= width) return [text]
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && textWidth(line) + 1 + textWidth(word) > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
