import { describe, expect, it } from 'vitest'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import { VolctlError } from '../../src/core/messages/findings.ts'

/** Lines of the kinds that upstream's sample table has, and of those it lacks. */
const SAMPLE = `
62 0 253:0 / / rw,relatime shared:1 - ext4 /dev/mapper/node--vg-root rw,seclabel,data=ordered
78 62 0:41 / /tmp rw,nosuid,nodev shared:30 - tmpfs tmpfs rw,seclabel
83 62 253:0 /srv/disks/vol1 /srv/disks/vol1 rw,relatime - ext4 /dev/mapper/node--vg-root rw,seclabel
40 78 0:41 /build /tmp/chroot/build rw,relatime master:30 shared:31 - tmpfs tmpfs rw,seclabel
31 23 0:28 / /sys/fs/cgroup ro,nosuid shared:9 - tmpfs tmpfs ro,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:10 - cgroup cgroup rw,cpu,cpuacct
33 31 0:30 / /sys/fs/cgroup/systemd rw,nosuid shared:11 - cgroup cgroup rw,xattr,name=systemd
84 62 8:16 / /var/lib/kubelet/plugins/kubernetes.io/iscsi/iface-default/10.0.0.1:3260-iqn.2003-01.io.k8s:e2e.vol-1-lun-0 rw,relatime shared:42 - ext4 /dev/sdb rw,context="system_u:object_r:container_file_t:s0:c13,c16",data=ordered
85 62 0:50 / /mnt/share rw propagate_from:2 unbindable - nfs4 10.0.0.9:/export/a rw,vers=4.2,addr=10.0.0.9
86 62 0:50 / /mnt/share-b rw - nfs4 10.0.0.9:/export/a/b rw,vers=4.2,addr=10.0.0.9
84 62 0:60 /@/home /home rw - btrfs /dev/sda2 rw,subvol=/@/home
`

describe('parseMountinfo', () => {
  const table = parseMountinfo(SAMPLE)

  it.each([
    {
      name: 'the root, with a parent that no line has',
      path: '/',
      want: { id: 62, parentId: 0, dev: '253:0', root: '/', source: '/dev/mapper/node--vg-root' },
    },
    {
      name: 'a bind of a sub-directory with two optional fields',
      path: '/tmp/chroot/build',
      want: { parentId: 78, dev: '0:41', root: '/build', optionalFields: ['master:30', 'shared:31'] },
    },
    {
      name: 'a quoted comma, colons in the path',
      path: '/var/lib/kubelet/plugins/kubernetes.io/iscsi/iface-default/10.0.0.1:3260-iqn.2003-01.io.k8s:e2e.vol-1-lun-0',
      want: {
        superOptions: ['rw', 'context="system_u:object_r:container_file_t:s0:c13,c16"', 'data=ordered'],
        source: '/dev/sdb',
      },
    },
    {
      name: 'propagate_from and unbindable',
      path: '/mnt/share',
      want: { optionalFields: ['propagate_from:2', 'unbindable'], source: '10.0.0.9:/export/a', fsType: 'nfs4' },
    },
  ])('reads $name', ({ path, want }) => {
    expect(table.at(path)).toMatchObject([want])
  })

  it('finds by id, the newer line where an id comes twice', () => {
    expect(table.byId(40)?.mountPoint).toBe('/tmp/chroot/build')
    expect(table.byId(84)?.mountPoint).toBe('/home')
    expect(table.byId(999)).toBeUndefined()
  })

  it.each([
    {
      name: 'a backslash that is no escape',
      line: String.raw`48 28 252:1 / /a\9b\4 rw - ext4 x rw`,
      want: { mountPoint: String.raw`/a\9b\4` },
    },
    {
      name: 'an empty source (kernels before 5.1)',
      line: '279 23 0:108 / /tmp rw - tmpfs  rw,size=4k',
      want: { source: '', superOptions: ['rw', 'size=4k'] },
    },
  ])('decodes $name', ({ line, want }) => {
    const [mount] = parseMountinfo(Buffer.from(line)).all
    expect(mount).toMatchObject(want)
  })

  it.each([
    { name: 'is too short', line: '48 28 0:9 / /m rw - tmpfs t', about: 'separator' },
    { name: 'has no major:minor', line: '48 28 / /m rw - tmpfs t rw x', about: 'major:minor' },
    { name: 'has no minor', line: '48 28 253: / /m rw - tmpfs t rw', about: 'major:minor' },
    { name: 'has a word for an id', line: 'x 28 253:0 / /m rw - tmpfs t rw', about: 'begin with ids' },
    { name: 'has an id of eleven digits', line: '48 28000000000 253:0 / /m rw - tmpfs t rw', about: 'begin with ids' },
    { name: 'has no separator', line: '48 28 253:0 / /m rw shared:1 tmpfs t rw', about: 'separator' },
    { name: 'is blank but for blanks', line: '  ', about: 'begin with ids' },
  ])('refuses a table with a line that $name, and names the line', ({ line, about }) => {
    const text = `62 0 253:0 / / rw - ext4 x rw\n\n${line}\n`
    expect(() => parseMountinfo(text)).toThrow(VolctlError)
    expect(() => parseMountinfo(text)).toThrow(new RegExp(`line 3: .*(${about})`))
  })
})

it('takes no other text of a line for its type', () => {
  const lines = ['3 2 0:3 / /k/a rw - overlay o rw', '7 2 0:7 / /k/x rw - tmpfs s rw,-overlay overlay rw']
  expect(parseMountinfo(lines.join('\n')).all.map(({ fsType }) => fsType)).toEqual(['overlay', 'tmpfs'])
})

describe('under', () => {
  const table = parseMountinfo(
    [
      '1 0 8:1 / / rw - ext4 r rw',
      '2 1 0:2 / /k rw - tmpfs a rw',
      '3 2 0:3 / /k/pods/u rw - tmpfs b rw',
      '4 3 0:4 / /k/pods/u rw - tmpfs c rw',
      '5 2 0:5 / /k/pods-other rw - tmpfs d rw',
      String.raw`6 2 0:6 / /k/pods/u\040v rw - tmpfs e rw`,
      String.raw`7 2 0:7 / /k/pods/gone\040(deleted) rw - tmpfs f rw`,
      String.raw`8 2 0:8 / /k\040b/x rw - tmpfs g rw`,
    ].join('\n'),
  )

  it.each([
    { prefix: '/', want: [1, 2, 3, 4, 5, 6, 7, 8] },
    { prefix: '/k/pods', want: [3, 4, 6, 7] },
    { prefix: '/k/pods/u v', want: [6] },
    { prefix: '/k/pods/gone', want: [7] },
    { prefix: '/k/pods/gone (deleted)', want: [7] },
  ])('lists what is at or below $prefix', ({ prefix, want }) =>
    expect(table.under(prefix).map(({ id }) => id)).toEqual(want),
  )

  it.each([
    { directory: '/', above: true },
    { directory: '/k/pods/u', above: false },
  ])('knows whether anything is mounted below $directory: $above', ({ directory, above }) => {
    expect(table.isAbove(directory)).toBe(above)
  })
})
