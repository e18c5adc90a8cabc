import { describe, expect, it } from 'vitest'
import { fitParts, type Part, screenLines } from '../../../src/core/views/fit-parts.ts'

const lines = (n: number, text = 'x'): string => `${text}\n`.repeat(n)

/** Sizes of the forms that were taken, and what is missing. */
function taken(parts: readonly Part[], rows: number): string {
  const { text, missing } = fitParts(parts, rows, 80)
  return `${screenLines(text, 80)} ${missing.join(' ')}`.trim()
}

describe('parts on a screen', () => {
  const head: Part = { forms: [lines(2)], rank: 0 }
  const first: Part = { forms: [lines(1), lines(4), lines(9)], rank: 1, name: 'first' }
  const second: Part = { forms: ['', lines(3)], rank: 2, name: 'second' }

  it.each([
    { rows: 40, want: '14' },
    { rows: 13, want: '9 first' },
    { rows: 9, want: '9 first' },
    { rows: 8, want: '6 first second' },
    { rows: 5, want: '3 first second' },
    // What must be shown is shown.
    { rows: 1, want: '3 first second' },
  ])('$rows lines: $want', ({ rows, want }) => expect(taken([head, first, second], rows)).toBe(want))

  it('what is ahead takes two forms before the others take one', () =>
    expect(taken([head, { ...first, ahead: 1 }, second], 13)).toBe('11 second'))
})

it.each([
  { text: 'a\nb\n', width: 80, want: 2 },
  { text: `${'x'.repeat(161)}\n`, width: 80, want: 3 },
  { text: `${'x'.repeat(161)}\n`, width: undefined, want: 1 },
  { text: `\u001b[31m${'x'.repeat(80)}\u001b[39m\n`, width: 80, want: 1 },
  { text: '\n', width: 80, want: 1 },
  { text: '', width: 80, want: 0 },
])('lines on a terminal of $width: $want', ({ text, width, want }) => expect(screenLines(text, width)).toBe(want))
