import { stripVTControlCharacters } from 'node:util'
import { asItIs, textWidth, type Width } from './wrap.ts'

/** What a view draws on, and how much it shows. */
export interface Screen {
  readonly paint: Palette
  readonly symbols: Symbols
  /** Columns; undefined: a pipe or a file, in which a line stays whole. */
  readonly width: Width
  /** Lines of the terminal; undefined as above. */
  readonly rows?: number
  /** -o wide: everything, nothing folded. */
  readonly wide: boolean
}

/** The few signs that views draw with. Each stands beside a word: nothing is said by a sign or a colour alone. */
export type Symbols = Readonly<Record<'good' | 'bad' | 'warn' | 'unknown' | 'waiting' | 'arrow', string>>

export const UNICODE_SYMBOLS: Symbols = {
  good: '✓',
  bad: '✗',
  warn: '!',
  unknown: '?',
  waiting: '…',
  arrow: '→',
}

export const ASCII_SYMBOLS: Symbols = {
  good: '+',
  bad: 'x',
  warn: '!',
  unknown: '?',
  waiting: '.',
  arrow: '->',
}

/** Does the locale say UTF-8? As with setlocale(3), the first variable that is set counts; none of them is the C locale. */
export function isUtf8Locale({ LC_ALL, LC_CTYPE, LANG }: Readonly<Record<string, string | undefined>>): boolean {
  return /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || '')
}

// How much room a text takes on a terminal.

/** Lines on the terminal: one that is too wide for it takes several. */
export function screenLines(text: string, width: Width): number {
  const lines = text.split('\n').slice(0, -1)
  if (width === undefined) return lines.length
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(textWidth(stripVTControlCharacters(line)) / width)), 0)
}

/** The few meanings that have a colour. */
export type Palette = Readonly<Record<'bold' | 'dim' | 'good' | 'warn' | 'bad', (text: string) => string>>

export const PLAIN: Palette = { bold: asItIs, dim: asItIs, good: asItIs, warn: asItIs, bad: asItIs }

/** Decided once per stream, as chalk itself ignores NO_COLOR. Without colour chalk is not even loaded. */
export async function palette(colour: boolean): Promise<Palette> {
  if (!colour) return PLAIN
  const { Chalk } = await import('chalk')
  const chalk = new Chalk({ level: 1 })
  return { bold: chalk.bold, dim: chalk.dim, good: chalk.green, warn: chalk.yellow, bad: chalk.red }
}

/** A pipe: no colour, plain signs, lines of any length. */
export const PLAIN_SCREEN: Screen = { paint: PLAIN, symbols: ASCII_SYMBOLS, width: undefined, wide: false }
