/** What answers are drawn on for golden screens: a small terminal with plain signs, a large one, and a pipe. */

import { PLAIN_SCREEN, type Screen, textWidth, UNICODE_SYMBOLS } from '../../src/core/views/screen.ts'
import { chunksOf } from './chunks-of.ts'

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
