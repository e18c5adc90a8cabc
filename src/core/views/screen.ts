import { type Palette, PLAIN } from './palette.ts'
import { ASCII_SYMBOLS, type Symbols } from './symbols.ts'
import type { Width } from './wrap.ts'

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

/** A pipe: no colour, plain signs, lines of any length. */
export const PLAIN_SCREEN: Screen = { paint: PLAIN, symbols: ASCII_SYMBOLS, width: undefined, wide: false }
