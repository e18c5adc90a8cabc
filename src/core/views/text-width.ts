/** How many columns a text takes on a terminal: wide letters take two, marks that combine take none. */
import stringWidth from 'string-width'

/** @param text without control characters and colours (terminal-safe.ts) */
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
