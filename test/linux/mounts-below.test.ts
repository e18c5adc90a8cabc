/** What is mounted below a directory, by the name in it; and what is not below it. */
import { describe, expect, it } from 'vitest'
import type { MountTable } from '../../src/core/linux/mount-table.ts'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'

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
    expect([...below].map(([name, mounts]) => [name, ids(mounts)])).toEqual([
      ['b', [3, 8, 11]],
      ['a', [4, 10]],
      ['gone', [7]],
      ['c d', [9]],
    ])
  })

  it('finds what is not below it: the mount on it, and what only begins like it', () => {
    expect(ids(table.notBelow('/k/pods'))).toEqual([1, 2, 5, 6])
    expect(ids(table.notBelow('/nothing'))).toHaveLength(TABLE.all.length)
    expect(ids(table.notBelow('/'))).toEqual([])
  })
})

/** /k/pods is a link to /data. */
function behindLink(): MountTable {
  const raw = parseMountinfo(TABLE.text.replaceAll('/k/pods/', '/data/'))
  return raw.withLinks([{ path: '/k/pods', place: '/data' }])
}
