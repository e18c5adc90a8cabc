import { describe, expect, it, vi } from 'vitest'
import { Covers } from '../../src/core/mountinfo/covers.ts'
import { parseMountinfo } from '../../src/core/mountinfo/parse-mountinfo.ts'

/** id, parent, mount point. */
type Row = readonly [number, number, string]

const table = (rows: readonly Row[]) =>
  parseMountinfo(rows.map(([id, parent, path]) => `${id} ${parent} 0:${id} / ${path} rw - tmpfs t rw`).join('\n'))

describe('Covers', () => {
  it.each<{ name: string; rows: readonly Row[]; covers: Readonly<Record<number, number>> }>([
    {
      name: 'nothing on a plain node',
      rows: [
        [43, 1, '/'],
        [50, 43, '/var'],
        [60, 50, '/var/k/p/a'],
        [61, 60, '/var/k/p/a'],
        [62, 61, '/var/k/p/a/b'],
      ],
      covers: {},
    },
    {
      name: 'what was mounted before its directory was bound over itself',
      rows: [
        [43, 1, '/'],
        [63, 43, '/k/x'],
        [64, 43, '/k'],
        [65, 64, '/k/y'],
      ],
      covers: { 63: 64 },
    },
    {
      name: 'the copies below a shared directory that is bound over itself',
      rows: [
        [43, 1, '/'],
        [63, 43, '/k'],
        [64, 63, '/k/x'],
        [65, 43, '/k/x'],
      ],
      covers: { 65: 63 },
    },
    {
      name: 'what is on a mount that is covered itself',
      rows: [
        [43, 1, '/'],
        [50, 43, '/var/k'],
        [51, 50, '/var/k/x'],
        [52, 43, '/var'],
      ],
      covers: { 50: 52, 51: 52 },
    },
    {
      name: 'what was mounted before its directory was bound over itself, and lies on the copy of a later mount since',
      rows: [
        [43, 1, '/'],
        [63, 71, '/k/x'],
        [64, 43, '/k'],
        [70, 64, '/k/x'],
        [71, 43, '/k/x'],
      ],
      covers: { 63: 64, 71: 64 },
    },
    {
      name: 'three of four copies below a shared directory that is bound over itself twice',
      rows: [
        [43, 1, '/'],
        [66, 68, '/k'],
        [67, 66, '/k'],
        [68, 43, '/k'],
        [69, 67, '/k/x'],
        [70, 68, '/k/x'],
        [71, 43, '/k/x'],
        [72, 66, '/k/x'],
      ],
      covers: { 70: 66, 71: 68, 72: 67 },
    },
    {
      name: 'nothing that it cannot tell, in a damaged table',
      rows: [
        [7, 7, '/k'],
        [7, 7, '/k/x'],
        [9, 8, '/k/y'],
      ],
      covers: {},
    },
  ])('shows $name', ({ rows, covers }) => {
    const mounts = table(rows)
    const found = rows.flatMap(([, , path], index) => {
      const mount = mounts.at(path).find((each) => each.index === index)
      const cover = mount && new Covers(mounts).of(mount)
      return cover === undefined ? [] : [[mount?.id, cover.id] as const]
    })
    expect(Object.fromEntries(found)).toEqual(covers)
  })
})

it('S34: of 20,000 mounts on one path, each is looked at a few times only', () => {
  const stack = Array.from({ length: 20_000 }, (_, n): Row => [n + 2, n + 1, '/k/x'])
  const mounts = table([[1, 0, '/'], ...stack])
  const byId = vi.spyOn(mounts, 'byId')
  const all = mounts.at('/k/x')
  const covers = new Covers(mounts)
  expect(all.filter((mount) => covers.of(mount) !== undefined)).toEqual([])
  expect(covers.reached(all).map(({ id }) => id)).toEqual(stack.map(([id]) => id))
  expect(mounts.top('/k/x')?.id).toBe(20_001)
  expect(byId.mock.calls.length).toBeLessThan(10 * stack.length)
})

it('a stack of which the table has the newest first', () => {
  const mounts = table([
    [1, 0, '/'],
    [4, 3, '/x'],
    [3, 2, '/x'],
    [2, 1, '/x'],
    [7, 8, '/y'],
    [8, 7, '/y'],
  ])
  expect(mounts.reached('/x').map(({ id }) => id)).toEqual([2, 3, 4])
  expect(mounts.reached('/y')).toHaveLength(2)
})
