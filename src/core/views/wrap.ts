/**
 * Prose on a terminal: broken between words, hanging under its beginning. A path or a command is never broken, so that it
 * can be copied; a command that is longer than a line begins a new one.
 */
import stringWidth from 'string-width'
import { terminalSafe } from '../base/terminal-safe.ts'

/** How wide the terminal is; undefined: a pipe or a file, in which a line stays whole. */
export type Width = number | undefined

/** What is left for words where the indent takes nearly all. */
const LEAST = 20

/**
 * @param first what stands before the text in its first line, as it is; the other lines are indented by its width
 * @param paint colours the text, line by line
 */
export function wrapped(first: string, text: string, width: Width, paint: (line: string) => string = asItIs): string {
  const safe = terminalSafe(text)
  if (width === undefined) return `${`${first}${paint(safe)}`.trimEnd()}\n`
  const indent = ' '.repeat(textWidth(first))
  return linesOf(safe, Math.max(width - textWidth(first), LEAST))
    .map((line, index) => `${`${index === 0 ? first : indent}${paint(line)}`.trimEnd()}\n`)
    .join('')
}

export const asItIs = (text: string): string => text

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

// Command lines inside prose, which are not to be broken on a screen: what stands on two lines cannot be copied. A command begins with a
// program that volctl advises people to use, and ends before the sentence goes on.

/** Each program with what may follow: behind other words it is a noun ("volctl leaves", "mount points"). */
const BEGINS = [
  'volctl (?:apply|check|completion|doctor|explain|journal|plan|snapshot|status|wait)\\b',
  'kubectl (?:annotate|auth|config|cordon|delete|describe|drain|edit|get|label|logs|patch|taint|uncordon|volctl)(?: |$)',
  'systemctl (?:cat|list-dependencies|restart|start|status|stop)(?: |$)',
  '(?:crictl|dmsetup) [a-z]+(?: |$)',
  "(?:findmnt|fsck|lsblk|umount) (?:[-/]|\\$?')",
  '(?:iscsiadm|journalctl|losetup|ls|mount|multipath|ps) -',
  'kill \\d',
].join('|')

/** Words of the sentence around it. */
const PROSE =
  'a again all and are as before by carries detaches does first for has here if in instead is lists may needs of on once or plans prints reads says shows tells that the then there to until what when which with works'

/** One in quotes may have blanks (base/command.ts). */
const WORD = String.raw`(?:\$'[^']*'|'[^']*'(?:\\''[^']*')*)?\S*`

/** A word; a command to a mark of the sentence, a word of it, or a parenthesis. */
const CHUNK = new RegExp(
  String.raw`(?<=^| )(?:(?<command>(?=\(?(?:${BEGINS}))\S+(?:(?<![).,;:]) (?!\(|(?:${PROSE.replaceAll(' ', '|')})(?: |$))${WORD})+)|[^ ]*)`,
  'g',
)

/** The words of a text; a command is one. Joined by blanks they are the text again. */
export function chunksOf(text: string): { readonly text: string; readonly isCommand: boolean }[] {
  return Array.from(text.matchAll(CHUNK), ({ 0: words, groups }) => {
    return { text: words, isCommand: groups?.command !== undefined }
  })
}

/**
 * How many columns a text takes on a terminal: wide letters take two, marks that combine take none.
 *
 * @param text without control characters and colours (terminal-safe.ts)
 */
export function textWidth(text: string): number {
  return PLAIN_TEXT.test(text) ? text.length : stringWidth(text)
}

/** Nearly every text of a plan, which may have 100,000 rows: looking at each letter would take its time. */
const PLAIN_TEXT = /^[ -~]*$/

/** The beginning of a text that fits into some columns; letters are not taken apart. */
export function cutToWidth(text: string, width: number): string {
  if (textWidth(text) <= width) return text
  let cut = ''
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (textWidth(cut + segment) > width) break
    cut += segment
  }
  return cut
}
