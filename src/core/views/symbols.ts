/** The few signs that views draw with. Each stands beside a word: nothing is said by a sign or a colour alone. */
export interface Symbols {
  readonly good: string
  readonly bad: string
  readonly warn: string
  readonly unknown: string
  readonly waiting: string
  readonly arrow: string
  /** Of a tree. */
  readonly branch: string
}

export const UNICODE_SYMBOLS: Symbols = {
  good: '✓',
  bad: '✗',
  warn: '!',
  unknown: '?',
  waiting: '…',
  arrow: '→',
  branch: '└─',
}

export const ASCII_SYMBOLS: Symbols = {
  good: '+',
  bad: 'x',
  warn: '!',
  unknown: '?',
  waiting: '.',
  arrow: '->',
  branch: '`-',
}

/** Does the locale say UTF-8? As with setlocale(3), the first variable that is set counts; none of them is the C locale. */
export function isUtf8Locale({ LC_ALL, LC_CTYPE, LANG }: Readonly<Record<string, string | undefined>>): boolean {
  return /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || '')
}
