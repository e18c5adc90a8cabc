import Table from 'cli-table3'
import { expect, it, vi } from 'vitest'
import { renderTable } from '../../../src/core/views/render-table.ts'

const rows = (n: number): string[][] =>
  Array.from({ length: n }, (_, i) => [`${i}`, i % 3 === 0 ? '' : 'x'.repeat(i % 17), 'end'])

it('columns line up, without borders and trailing blanks', () =>
  expect(
    renderTable(
      ['#', 'NAME', 'STATE'],
      [
        ['1', 'pv-a', ''],
        ['2', 'a-longer-name', 'blocked'],
      ],
    ),
  ).toBe('#  NAME           STATE\n1  pv-a\n2  a-longer-name  blocked\n'))

it('a column that is empty everywhere is left out', () =>
  expect(
    renderTable(
      ['A', 'B', 'C'],
      [
        ['1', '', '2'],
        ['3', '', '4'],
      ],
    ),
  ).toBe('A  C\n1  2\n3  4\n'))

it('long tables look like short ones', () => {
  const long = renderTable(['#', 'NAME', 'END'], rows(501)).split('\n')
  const short = renderTable(['#', 'NAME', 'END'], rows(500)).split('\n')
  expect(long.slice(0, 501)).toEqual(short.slice(0, 501))
})

it('the drawer that needs quadratic time is not asked for a long one', () => {
  const draw = vi.spyOn(Table.prototype, 'toString')
  renderTable(['#', 'NAME', 'END'], rows(500))
  expect(draw).toHaveBeenCalledOnce()
  renderTable(['#', 'NAME', 'END'], rows(501))
  expect(draw).toHaveBeenCalledOnce()
})

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
