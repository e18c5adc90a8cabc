/** What is mounted below a directory, by the name in it; and what is not below it. */
import { describe, expect, it } from 'vitest'
import { withLinks } from '../../src/core/mountinfo/linked-mounts.ts'
import type { MountTable } from '../../src/core/mountinfo/mount-table.ts'
import { ListedBelow } from '../../src/core/mountinfo/mounts-below.ts'
import { parseMountinfo, parsePieces } from '../../src/core/mountinfo/parse-mountinfo.ts'
import { randomFrom } from '../helpers/random-from.ts'

const TABLE = parseMountinfo(
  [
    '1 0 8:1 / / rw - ext4 r rw',
    '2 1 0:2 / /k rw - tmpfs a rw',
    '3 2 0:3 / /k/pods/b/x/y rw - tmpfs b rw',
    '4 2 0:4 / /k/pods/a rw - tmpfs c rw',
    '5 2 0:5 / /k/pods rw - tmpfs d rw',
    '6 2 0:6 / /k/pods-other/a rw - tmpfs e rw',
    String.raw`7 2 0:7 / /k/pods/gone\040(deleted) rw - tmpfs f rw`,
    '8 3 0:8 / /k/pods/b/x rw - tmpfs g rw',
    String.raw`9 2 0:9 / /k/pods/c\040d/ä rw - nfs4 h rw`,
    '10 4 0:10 / /k/pods/a/x rw - tmpfs i rw',
    '11 3 0:11 / /k/pods/b/x/y rw - tmpfs j rw',
  ].join('\n'),
)
const ids = (mounts: readonly { readonly id: number }[]): number[] => mounts.map(({ id }) => id)

describe.each([
  { kind: 'a table', table: TABLE },
  { kind: 'the same behind a link', table: behindLink() },
])('below a directory of $kind', ({ table }) => {
  it('finds each name by its oldest mount, with all its mounts in table order', () => {
    const below = table.below('/k/pods')
    const names = [...below.names()]
    expect(names).toEqual(['b', 'a', 'gone', 'c d'])
    expect(names.map((name) => ids(below.of(name)))).toEqual([[3, 8, 11], [4, 10], [7], [9]])
    expect(names.map((name) => below.count(name))).toEqual([3, 2, 1, 1])
    expect(ids(below.all())).toEqual([3, 4, 7, 8, 9, 10, 11])
  })

  it('finds nothing where nothing is', () => {
    const below = table.below('/k/pods')
    expect([below.of('pods'), below.count('pods'), below.of('x')]).toEqual([[], 0, []])
    expect([...table.below('/nothing').names()]).toEqual([])
  })

  it('finds what is not below it: the mount on it, and what only begins like it', () => {
    expect(ids(table.notBelow('/k/pods'))).toEqual([1, 2, 5, 6])
    expect(ids(table.notBelow('/nothing'))).toHaveLength(TABLE.size)
    expect(ids(table.notBelow('/'))).toEqual([])
  })

  it('finds mounts of the types that are meant, and asks about each once', () => {
    const asked: string[] = []
    const meant = (fsType: string): boolean => asked.push(fsType) > 0 && fsType.startsWith('nfs')
    expect(ids(table.ofTypes(meant))).toEqual([9])
    expect(asked.toSorted()).toEqual(['ext4', 'nfs4', 'tmpfs'])
  })
})

/** /k/pods is a link to /data. */
function behindLink(): MountTable {
  const raw = parseMountinfo(TABLE.text.replaceAll('/k/pods/', '/data/'))
  return withLinks(raw, [{ path: '/k/pods', place: '/data' }])
}

it('takes as many mounts on one path as a mount storm makes', () => {
  const many = 200_000
  const table = parsePieces([
    Array.from({ length: many }, (_, index) => `${index + 1} 0 0:1 / /k/a rw - tmpfs t rw\n`).join(''),
  ])
  expect([...table.below('/k').names()]).toEqual(['a'])
  expect(table.below('/k').count('a')).toBe(many)
  expect(table.below('/k').all()).toHaveLength(many)
  expect(table.notBelow('/x')).toHaveLength(many)
})

describe('tables of any shape', () => {
  it.each(Array.from({ length: 50 }, (_, seed) => seed))('the index finds what a search finds: table %i', (seed) => {
    const random = randomFrom(seed)
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
    const names = ['a', 'b', 'pods', 'pods-other', String.raw`c\040d`, 'ä', String.raw`e\040(deleted)`]
    const path = (): string => Array.from({ length: Math.floor(random() * 5) }, () => `/${pick(names)}`).join('') || '/'
    const lines = Array.from({ length: 40 }, (_, index) => {
      const dev = `0:${Math.floor(random() * 5)}`
      return `${index + 1} ${Math.floor(random() * 40)} ${dev} / ${path()} rw - ${pick(['tmpfs', 'nfs4', 'fuse.x'])} s rw\n`
    })
    const cut = Math.floor(random() * lines.length)
    const table = parsePieces([lines.slice(0, cut).join(''), lines.slice(cut).join('')])
    const all = table.under('/')
    for (const directory of ['/a', '/pods', '/a/b', '/c d', '/ä/a']) {
      const below = table.below(directory)
      const listed = new ListedBelow(all, directory)
      expect([...below.names()]).toEqual([...listed.names()])
      for (const name of below.names()) expect(ids(below.of(name))).toEqual(ids(listed.of(name)))
      expect(ids(below.all())).toEqual(ids(listed.all()))
      const outside = all.filter(({ mountPoint }) => !mountPoint.startsWith(`${directory}/`))
      expect(ids(table.notBelow(directory))).toEqual(ids(outside))
      const newest = table.childrenOf(directory)
      for (const name of ['a', 'b', 'c d', 'e']) {
        const top = table.top(`${directory}/${name}`)
        expect(newest?.get(name)?.id).toBe(top?.id)
        expect(newest?.has(name) ?? false).toBe(top !== undefined)
      }
    }
    // Once by a search, and then, after many questions, by an index.
    for (let round = 0; round < 100; round++) {
      const dev = `0:${round % 6}`
      expect(ids(table.ofDevice(dev))).toEqual(ids(all.filter((mount) => mount.dev === dev)))
      expect(table.byId(round % 50)?.index).toBe(all.findLast(({ id }) => id === round % 50)?.index)
    }
  })
})
