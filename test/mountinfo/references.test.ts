import { describe, expect, it } from 'vitest'
import { isWithin } from '../../src/core/files/path-within.ts'
import { hasForeignReferences, mountReferences } from '../../src/core/mountinfo/mount-references.ts'
import { parseMountinfo } from '../../src/core/mountinfo/parse-mountinfo.ts'

const ROOT = '25 0 254:0 / / rw shared:1 - ext4 /dev/vda1 rw'
const POD1 = '/k/pods/p1/volumes/kubernetes.io~local-volume/pv'
const POD2 = '/k/pods/p2/volumes/kubernetes.io~local-volume/pv'
const DIR = '/mnt/disks/vol1'

function bind(id: number, dev: string, root: string, path: string, type = 'ext4'): string {
  return `${id} 25 ${dev} ${root} ${path} rw shared:1 - ${type} src rw`
}

describe('mountReferences', () => {
  it.each([
    { name: 'a plain directory', lines: [], path: DIR, want: [] },
    {
      name: 'a directory that a pod has, beside a mount whose path is a prefix string',
      lines: [bind(26, '0:30', '/', '/mnt/disks/vol', 'tmpfs'), bind(27, '254:0', DIR, POD1)],
      path: DIR,
      want: [POD1],
    },
    { name: 'a tmpfs', lines: [bind(26, '0:30', '/', DIR, 'tmpfs')], path: DIR, want: [] },
    {
      name: 'a tmpfs that two pods have',
      lines: [
        bind(26, '0:30', '/', DIR, 'tmpfs'),
        bind(27, '0:30', '/', POD1, 'tmpfs'),
        bind(28, '0:30', '/', POD2, 'tmpfs'),
      ],
      path: DIR,
      want: [POD1, POD2],
    },
    {
      name: 'a sub-directory of a tmpfs, reached through a bind',
      lines: [
        bind(26, '0:30', '/', '/mnt/a', 'tmpfs'),
        bind(27, '0:30', '/sub', '/mnt/b', 'tmpfs'),
        bind(28, '0:30', '/sub/vol', POD1, 'tmpfs'),
      ],
      path: '/mnt/b/vol',
      want: [POD1],
    },
    { name: 'a directory bound onto itself', lines: [bind(26, '254:0', DIR, DIR)], path: DIR, want: [] },
    {
      name: 'the same with a pod',
      lines: [bind(26, '254:0', DIR, DIR), bind(27, '254:0', DIR, POD1)],
      path: DIR,
      want: [POD1],
    },
    { name: 'a block file system', lines: [bind(26, '8:16', '/', DIR)], path: DIR, want: [] },
    {
      name: 'a block file system that two pods have',
      lines: [bind(26, '8:16', '/', DIR), bind(27, '8:16', '/', POD1), bind(28, '8:16', '/', POD2)],
      path: DIR,
      want: [POD1, POD2],
    },
    {
      name: 'a child of the source is none',
      lines: [bind(26, '8:16', '/', DIR), bind(27, '8:16', '/child', POD1)],
      path: DIR,
      want: [],
    },
    {
      name: 'a layer beneath it is one',
      lines: [bind(26, '8:16', '/', DIR), bind(27, '8:16', '/', DIR)],
      path: `${DIR}/`,
      want: [DIR],
    },
    {
      name: 'a bind with blanks in its path',
      lines: [bind(26, '8:16', '/', String.raw`/mnt/a\040b`), bind(27, '8:16', '/c', POD1)],
      path: '/mnt/a b/c',
      want: [POD1],
    },
    {
      name: 'a directory that was removed',
      lines: [bind(26, '8:16', '/', String.raw`/mnt/a\040(deleted)`), bind(27, '8:16', '/c', POD1)],
      path: '/mnt/a/c',
      want: [POD1],
    },
  ])('of $name', ({ lines, path, want }) => {
    const table = parseMountinfo([ROOT, ...lines].join('\n'))
    expect(mountReferences(table, path).map((mount) => mount.mountPoint)).toEqual(want)
  })

  it('of / are its other mounts', () => {
    const table = parseMountinfo([ROOT, bind(26, '254:0', '/', '/host')].join('\n'))
    expect(mountReferences(table, '/').map((mount) => mount.mountPoint)).toEqual(['/host'])
  })

  it('fails where no mount contains the path, instead of finding none', () => {
    const table = parseMountinfo(bind(26, '8:16', '/', DIR))
    expect(() => mountReferences(table, '/')).toThrow(/no mount that contains/)
  })
})

describe('hasForeignReferences', () => {
  const path = '/k/plugins/kubernetes.io/csi/d/abc/globalmount'
  const refs = (...paths: string[]) => parseMountinfo(paths.map((p, i) => bind(i, '8:1', '/', p)).join('\n')).under('/')
  it.each([
    { name: 'none', refs: refs(), want: false },
    { name: "a pod's bind mount", refs: refs(POD1), want: true },
    { name: 'a copy of the global mount under another prefix', refs: refs(`/host${path}`), want: false },
    { name: 'a copy and a pod', refs: refs(`/host${path}`, POD1), want: true },
    { name: 'another global mount', refs: refs('/k/plugins/kubernetes.io/csi/d/other/globalmount'), want: true },
  ])('$name: $want', ({ refs, want }) => expect(hasForeignReferences(path, refs)).toBe(want))

  it('compares the whole path where it is outside the plugin tree', () => {
    expect(hasForeignReferences('/srv/x', refs('/srv/x'))).toBe(false)
    expect(hasForeignReferences('/srv/x', refs('/srv/y'))).toBe(true)
  })
})

describe('isWithin', () => {
  it.each([
    ['/good/path', '/good/path', true],
    ['/good/path/', '/good/path', true],
    ['/good/path', '/good/path/', true],
    ['/good/path', '/', true],
    ['/good/path/child', '/good/path', true],
    ['/good/a/../path/b', '/good/path', true],
    ['/good', '/good/path', false],
    ['/good/path2', '/good/path', false],
    ['/good/path/../../bad', '/good/path', false],
    ['/good/path/../other', '/good/path', false],
    ['/good/path/..2026_11_21', '/good/path', true],
    ['/', '/', true],
  ])('%s within %s: %s', (path, base, want) => expect(isWithin(path, base)).toBe(want))
})
