/** One mount, and how often a table has it, as a kernel 6.18 showed it (O35). */
import { describe, expect, it } from 'vitest'
import type { MountInfo, MountTable } from '../../src/core/linux/mount-table.ts'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import { copiesOf, withoutCopies } from '../../src/core/linux/propagation.ts'

const ids = (mounts: readonly MountInfo[]): number[] => mounts.map(({ id }) => id)

/** Lines in another order are what other kernels show. */
function orders(text: string): MountTable[] {
  const lines = text.trim().split('\n')
  return [lines, lines.toReversed()].map((each) => parseMountinfo(`${each.join('\n')}\n`))
}

const TWICE = `43 1 254:0 / / rw - ext4 /dev/vda rw
64 43 0:39 / /m rw shared:1 - tmpfs t rw
66 64 0:39 /k /m/k rw shared:1 - tmpfs t rw
67 66 0:40 / /m/k/v rw shared:2 - tmpfs v rw
68 64 0:40 / /m/k/v rw shared:2 - tmpfs v rw
71 67 0:42 / /m/k/v rw shared:4 - tmpfs over rw
72 68 0:42 / /m/k/v rw shared:4 - tmpfs over rw
80 43 0:40 / /bind rw shared:2 - tmpfs v rw
`
const LATER = `43 1 254:0 / / rw - ext4 /dev/vda rw
64 43 0:39 / /m rw shared:1 - tmpfs t rw
66 71 0:40 / /m/k/w rw shared:2 - tmpfs old rw
67 64 0:39 /k /m/k rw shared:1 - tmpfs t rw
70 67 0:42 / /m/k/w rw shared:4 - tmpfs new rw
71 64 0:42 / /m/k/w rw shared:4 - tmpfs new rw
`

describe('a mount and its copies', () => {
  it.each(orders(TWICE))('the path leads to one of each, oldest first, whatever the order of the table', (table) => {
    expect(ids(table.reached('/m/k/v'))).toEqual([67, 71])
    expect(table.top('/m/k/v')?.id).toBe(71)
    expect(table.top('/m/k/none')).toBeUndefined()
    expect(ids(withoutCopies(table, '/m/k/v')).toSorted()).toEqual([67, 71])
  })
  it.each(orders(TWICE))('a copy goes with its mount; a bind mount of the same does not', (table) => {
    const [v, over] = table.reached('/m/k/v') as [MountInfo, MountInfo]
    expect(ids(copiesOf(table, v))).toEqual([68])
    expect(ids(copiesOf(table, over))).toEqual([72])
  })
  it.each(orders(LATER))('what was there before the directory was bound over itself is no copy', (table) => {
    expect(ids(table.reached('/m/k/w'))).toEqual([70])
    expect(ids(withoutCopies(table, '/m/k/w')).toSorted()).toEqual([66, 70])
  })
})
