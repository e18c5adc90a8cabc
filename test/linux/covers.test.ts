import { expect, it, vi } from 'vitest'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'

/** Rows of `id parent mount-point`. */
const table = (rows: readonly string[]) =>
  parseMountinfo(rows.map((row) => `${row.replace(/ (?=\/)/, ' 0:1 / ')} rw - tmpfs t rw`).join('\n'))

it.each<[name: string, rows: string, covers: Readonly<Record<number, number>>]>([
  ['nothing on a plain node', '43 1 /, 50 43 /var, 60 50 /var/k/p/a, 61 60 /var/k/p/a, 62 61 /var/k/p/a/b', {}],
  [
    'what was mounted before its directory was bound over itself',
    '43 1 /, 63 43 /k/x, 64 43 /k, 65 64 /k/y',
    { 63: 64 },
  ],
  [
    'the copies below a shared directory that is bound over itself',
    '43 1 /, 63 43 /k, 64 63 /k/x, 65 43 /k/x',
    { 65: 63 },
  ],
  ['what is on a mount that is covered itself', '43 1 /, 50 43 /var/k, 51 50 /var/k/x, 52 43 /var', { 50: 52, 51: 52 }],
  [
    'what was mounted before its directory was bound over itself, and lies on the copy of a later mount since',
    '43 1 /, 63 71 /k/x, 64 43 /k, 70 64 /k/x, 71 43 /k/x',
    { 63: 64, 71: 64 },
  ],
  [
    'three of four copies below a shared directory that is bound over itself twice',
    '43 1 /, 66 68 /k, 67 66 /k, 68 43 /k, 69 67 /k/x, 70 68 /k/x, 71 43 /k/x, 72 66 /k/x',
    { 70: 66, 71: 68, 72: 67 },
  ],
  ['nothing that it cannot tell, in a damaged table', '7 7 /k, 7 7 /k/x, 9 8 /k/y', {}],
])('Covers: shows %s', (_name, text, covers) => {
  const rows = text.split(', ')
  const mounts = table(rows)
  const found = rows.flatMap((row, index) => {
    const mount = mounts.at(row.slice(row.indexOf('/'))).find((each) => each.index === index)
    const cover = mount && mounts.coverOf(mount)
    return cover === undefined ? [] : [[mount?.id, cover.id] as const]
  })
  expect(Object.fromEntries(found)).toEqual(covers)
})

it('S34: of 20,000 mounts on one path, each is looked at a few times only', () => {
  const stack = Array.from({ length: 20_000 }, (_, n) => `${n + 2} ${n + 1} /k/x`)
  const mounts = table(['1 0 /', ...stack])
  const byId = vi.spyOn(mounts, 'byId')
  const all = mounts.at('/k/x')
  expect(all.filter((mount) => mounts.coverOf(mount) !== undefined)).toEqual([])
  expect(mounts.reached('/k/x').map(({ id }) => id)).toEqual(stack.map((_, n) => n + 2))
  expect(mounts.top('/k/x')?.id).toBe(20_001)
  expect(byId.mock.calls.length).toBeLessThan(10 * stack.length)
})

it('a stack of which the table has the newest first', () => {
  const mounts = table(['1 0 /', '4 3 /x', '3 2 /x', '2 1 /x', '7 8 /y', '8 7 /y'])
  expect(mounts.reached('/x').map(({ id }) => id)).toEqual([2, 3, 4])
  expect(mounts.reached('/y')).toHaveLength(2)
})
