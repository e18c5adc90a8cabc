import { posix } from 'node:path'
import { expect, it } from 'vitest'
import { containingMount, fileSystemText, locationIn } from '../../src/core/linux/location.ts'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'

const table = parseMountinfo(
  ['1 0 8:1 / / rw - ext4 r rw', '2 1 0:2 /data /k rw - ext4 a rw', '3 2 0:3 / /k/pods/u rw - tmpfs b rw'].join('\n'),
)

const texts = ['/', '/k', '/k/', '/k//x', '/k/../x', '/k/./x', '/k/x', '/k/.x', '/kx', '/k/x//deleted', '/k/x/y']
const rows = texts.flatMap((root) => texts.flatMap((mountPoint) => texts.map((path) => ({ root, mountPoint, path }))))

it('locationIn: is the path from the root of the file system, however the paths are written', () => {
  const [mount] = table.at('/k')
  const found = rows.map(({ root, mountPoint, path }) =>
    locationIn({ ...JSON.parse(JSON.stringify(mount)), root, mountPoint }, path),
  )
  expect(found).toEqual(
    rows.map(({ root, mountPoint, path }) => ({
      dev: '0:2',
      path: posix.join(root, posix.relative(mountPoint, path)),
    })),
  )
})

it.each([
  { path: '/k/pods/v/a', want: 2 },
  { path: '/k/pods/u', want: 3 },
  { path: '/', want: 1 },
  { path: 'relative', want: undefined },
])('containingMount: of $path is $want', ({ path, want }) => expect(containingMount(table, path)?.id).toBe(want))

it.each([
  { fsType: 'ext4', source: '/dev/sdb', is: 'ext4 of /dev/sdb' },
  { fsType: 'nfs4', source: 'server:/export', is: 'nfs4 of server:/export' },
  { fsType: 'tmpfs', source: 'tmpfs', is: 'tmpfs' },
  { fsType: 'tmpfs', source: '', is: 'tmpfs' },
  { fsType: 'overlay', source: 'none', is: 'overlay' },
])('$fsType from "$source" is: $is', ({ fsType, source, is }) => expect(fileSystemText({ fsType, source })).toBe(is))
