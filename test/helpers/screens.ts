/** What answers are drawn on for golden screens: a small terminal with plain signs, a large one, and a pipe. */

import { PLAIN_SCREEN, type Screen, textWidth, UNICODE_SYMBOLS } from '../../src/core/views/screen.ts'

export const SCREENS = {
  '80x24': { ...PLAIN_SCREEN, width: 80, rows: 24 },
  '120x40': { ...PLAIN_SCREEN, symbols: UNICODE_SYMBOLS, width: 120, rows: 40 },
  'a pipe': PLAIN_SCREEN,
} as const satisfies Readonly<Record<string, Screen>>

/** Lines that are too wide, but for a command, and for one word behind a sign or in the last column: these stay whole. */
export function tooWide(text: string, width = Number.POSITIVE_INFINITY): string[] {
  return text
    .split('\n')
    .filter((line) => textWidth(line) > width && !/^(?:.* {2})?(?:[x!] |Next: volctl explain )?\S+$/.test(line))
    .filter((line) => chunksOf(line.replace(/^Next: /, '').trim()).some(({ isCommand }) => !isCommand))
}

/** Nothing is said twice: a sentence of some length stands once. */
export function saidTwice(text: string): string[] {
  const sentences = text
    .split(/\n(?=\n| {0,3}\S| {4}(?:->|→) )/)
    .map((each) => each.replace(/\s+/g, ' ').trim())
    .filter((each) => each.length > 30 && /[^#] /.test(each))
  return sentences.filter((each, index) => sentences.indexOf(each) !== index)
}

// Command lines inside prose, as a reader finds them: a command begins with a program that volctl advises people to use, and ends before
// the sentence goes on.

/** Each program with what may follow: behind other words it is a noun ("volctl leaves", "mount points"). */
const BEGINS = [
  'volctl (?:apply|check|completion|doctor|explain|journal|plan|snapshot|status|wait)\\b',
  'kubectl (?:annotate|auth|config|cordon|delete|describe|drain|edit|get|label|logs|patch|taint|uncordon|volctl)(?: |$)',
  'systemctl (?:cat|list-\\S+|mask|restart|start|status|stop)(?: |$)',
  '(?:crictl|dmsetup) [a-z]+(?: |$)',
  "(?:blockdev|exportfs|findmnt|fsck|lsblk|mkfs\\S*|nsenter|pgrep|swapoff|umount) [-/$']",
  '(?:iscsiadm|journalctl|losetup|ls|mount|multipath|ps) -',
  'kill \\d',
].join('|')

/** Words of the sentence around it. */
const PROSE =
  'a again all and are as before by carries detaches does first for has here if in instead is lists may needs of on once or plans prints reads says shows tells that the then there to until what when which with works'

/** One in quotes may have blanks (messages/command.ts). */
const WORD = String.raw`(?:\$'[^']*'|'[^']*'(?:\\''[^']*')*)?\S*`

/** A word; a command to a mark of the sentence, a word of it, or a parenthesis. */
const CHUNK = new RegExp(
  String.raw`(?<=^| )(?:(?<command>(?=\(?(?:${BEGINS}))\S+(?:(?<![).,;:]) (?!\(|(?:${PROSE.replaceAll(' ', '|')})(?: |$))${WORD})+)|[^ ]*)`,
  'g',
)

/** The words of a text; a command is one. Joined by blanks they are the text again. */
export function chunksOf(text: string) {
  return Array.from(text.matchAll(CHUNK), ({ 0: words, groups }) => {
    return { text: words, isCommand: groups?.command !== undefined }
  })
}
