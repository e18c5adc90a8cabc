import { expect, it } from 'vitest'
import { screenLines } from '../../../src/core/views/screen.ts'

it.each([
  { text: 'a\nb\n', width: 80, want: 2 },
  { text: `${'x'.repeat(161)}\n`, width: 80, want: 3 },
  { text: `${'x'.repeat(161)}\n`, width: undefined, want: 1 },
  { text: `\u001b[31m${'x'.repeat(80)}\u001b[39m\n`, width: 80, want: 1 },
  { text: '\n', width: 80, want: 1 },
  { text: '', width: 80, want: 0 },
])('lines on a terminal of $width: $want', ({ text, width, want }) => expect(screenLines(text, width)).toBe(want))
