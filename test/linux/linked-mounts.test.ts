/** A mount table read through links in the kubelet's structure (S8): what the kernel shows elsewhere has the kubelet's paths. */
import { describe, expect, it } from 'vitest'
import { containingMount, locate } from '../../src/core/linux/location.ts'
import { ownPathOf, placeOf } from '../../src/core/linux/mount-table.ts'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import { goesWith } from '../../src/core/linux/propagation.ts'

const RAW = parseMountinfo(`1 0 8:1 / / rw shared:1 - ext4 /dev/sda1 rw
2 1 8:2 /top /data rw shared:2 - xfs /dev/sdb rw
3 2 0:50 / /data/a/UID/volumes/x rw shared:3 - tmpfs tmpfs rw
4 3 0:51 / /data/a/UID/volumes/x rw shared:4 - tmpfs tmpfs rw
5 2 0:52 / /data/ab rw shared:5 - tmpfs tmpfs rw
6 1 8:2 /top/a /peer rw shared:2 - xfs /dev/sdb rw
7 6 0:50 / /peer/UID/volumes/x rw shared:3 - tmpfs tmpfs rw
8 2 0:53 / /data/a/gone\\040(deleted) rw shared:6 - tmpfs tmpfs rw
9 1 0:54 / /kubelet/plugins/b rw shared:7 - tmpfs tmpfs rw
`)
const LINKS = [{ path: '/kubelet/pods', place: '/data/a' }]
const TABLE = RAW.withLinks(LINKS)
const ids = (mounts: readonly { readonly id: number }[]): number[] => mounts.map(({ id }) => id)

describe('withLinks', () => {
  it('leaves a table alone where there is no link, and is not done twice', () => {
    expect(RAW.withLinks([])).toBe(RAW)
    expect(TABLE.withLinks(LINKS)).toBe(TABLE)
    expect(TABLE.raw).toBe(RAW)
  })

  it('finds what is behind the link by its own path, and no more by the place', () => {
    expect(ids(TABLE.at('/kubelet/pods/UID/volumes/x'))).toEqual([3, 4])
    expect(TABLE.top('/kubelet/pods/UID/volumes/x')?.id).toBe(4)
    expect(TABLE.at('/data/a/UID/volumes/x')).toEqual([])
    expect(TABLE.top('/data/a/UID/volumes/x')).toBeUndefined()
    expect(ids(TABLE.under('/kubelet'))).toEqual([3, 4, 8, 9])
    expect(ids(TABLE.under('/data'))).toEqual([2, 5])
    expect(TABLE.all).toHaveLength(RAW.all.length)
  })

  it('has the same mounts by device, id and directory', () => {
    expect(TABLE.ofDevice('0:50').map(({ mountPoint }) => mountPoint)).toEqual([
      '/kubelet/pods/UID/volumes/x',
      '/peer/UID/volumes/x',
    ])
    expect(TABLE.byId(3)).toMatchObject({ mountPoint: '/kubelet/pods/UID/volumes/x', fsType: 'tmpfs', dev: '0:50' })
    expect(TABLE.isAbove('/kubelet/pods/UID')).toBe(true)
    expect(TABLE.isAbove('/kubelet/pods/OTHER')).toBe(false)
  })

  it('takes a name that merely begins like the place for another', () => {
    expect(ids(TABLE.at('/data/ab'))).toEqual([5])
  })

  it('shows what is mounted on the place itself there, and on the link', () => {
    const on = parseMountinfo(`${RAW.text}11 2 0:70 / /data/a rw - ext4 /dev/sdc rw\n`).withLinks(LINKS)
    expect([ids(on.at('/data/a')), ids(on.at('/kubelet/pods'))]).toEqual([[11], [11]])
  })

  it('tells where a path lies, by either of its names', () => {
    for (const path of ['/kubelet/pods/UID/etc-hosts', '/data/a/UID/etc-hosts']) {
      expect(locate(TABLE, path)).toEqual({ dev: '8:2', path: '/top/a/UID/etc-hosts' })
      expect(containingMount(TABLE, path)).toMatchObject({ id: 2 })
    }
    expect(locate(TABLE, '/data/a/UID/volumes/x/file')).toEqual({ dev: '0:51', path: '/file' })
    expect(locate(TABLE, '/kubelet/other')).toEqual({ dev: '8:1', path: '/kubelet/other' })
    expect(placeOf(TABLE, '/kubelet/pods/UID')).toBe('/data/a/UID')
    expect(ownPathOf(TABLE, '/data/a/UID')).toBe('/kubelet/pods/UID')
    expect(ownPathOf(RAW, '/data/a/UID')).toBe('/data/a/UID')
  })

  it('knows copies and covers as in the table itself', () => {
    const [below] = TABLE.at('/kubelet/pods/UID/volumes/x')
    const [copy] = TABLE.at('/peer/UID/volumes/x')
    if (below === undefined || copy === undefined) throw new Error('not there')
    expect(goesWith(TABLE, below, copy)).toBe(goesWith(RAW, RAW.byId(3) as never, RAW.byId(7) as never))
    expect(goesWith(TABLE, below, copy)).toBe(true)
    const covered = parseMountinfo(`${RAW.text}10 2 0:60 / /data rw - tmpfs over rw\n`).withLinks(LINKS)
    expect(covered.coverOf(covered.byId(3) as never)).toMatchObject({ id: 10 })
    expect(TABLE.coverOf(TABLE.byId(3) as never)).toBeUndefined()
  })
})
