import { expect, it } from 'vitest'
import { type Cell, columnsTable } from '../../../src/core/views/columns-table.ts'
import { cutToWidth, PLAIN_SCREEN } from '../../../src/core/views/screen.ts'

const renderTable = (heads: readonly string[], rows: readonly (readonly Cell[])[]): string => {
  const columns = heads.map((head, index) => ({ head, cell: (row: readonly Cell[]) => row[index] ?? '' }))
  return columnsTable({ columns, inWords: false }, rows, PLAIN_SCREEN)
}

const rows = (n: number): string[][] =>
  Array.from({ length: n }, (_, i) => [`${i}`, i % 3 === 0 ? '' : 'x'.repeat(i % 17), 'end'])

it('a long table is drawn in pieces that fit together', () => {
  const lines = renderTable(['#', 'NAME', 'END'], rows(1001)).split('\n')
  expect(lines).toHaveLength(1003)
  expect(new Set(lines.slice(0, -1).map((line) => line.search(/\S+$/)))).toHaveLength(1)
})

it('columns are as wide as their letters on a terminal', () =>
  expect(
    renderTable(
      ['A', 'B'],
      [
        ['日本', 'x'],
        ['e\u0301', 'y'],
      ],
    ),
  ).toBe('A     B\n日本  x\ne\u0301     y\n'))

it('colour does not shift the columns', () => {
  const red = (text: string): string => `\u001b[31m${text}\u001b[39m`
  expect(
    renderTable(
      ['A', 'B'],
      [
        [{ text: 'x', paint: red }, 'y'],
        ['long', 'z'],
      ],
    ),
  ).toBe(`A     B\n${red('x')}     y\nlong  z\n`)
})

it.each([
  ['short', 9, 'short'],
  ['much longer', 4, 'much'],
  ['日本語', 5, '日本'],
  ['e\u0301e\u0301e\u0301', 2, 'e\u0301e\u0301'],
])('%j in %d columns', (text, width, want) => expect(cutToWidth(text, width)).toBe(want))
