/** Links in place of the kubelet's directories, on a real disk: which are gone through, and why the others are not (S8, S33). */
import { chmodSync, lchownSync, mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import { structureLinks } from '../../src/core/node/tree/structure-links.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

const DISK = '1 0 8:1 / / rw - ext4 /dev/sda1 rw\n'
const DRIVERS = 'plugins/kubernetes.io/csi'

let base: string
let root: string
beforeEach(() => {
  base = temporaryDirectory()
  root = join(base, 'kubelet')
  make('kubelet')
})

function make(...paths: readonly string[]): void {
  for (const path of paths) mkdirSync(join(base, path), { recursive: true })
}

/** @param to as the link says it */
function link(path: string, to: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  symlinkSync(to, join(root, path))
}

const look = (table = DISK) => structureLinks(root, parseMountinfo(table))
const followed = (table = DISK): Record<string, string> =>
  Object.fromEntries(
    look(table).links.map(({ path, place }) => [path.slice(root.length + 1), place.slice(base.length + 1)]),
  )
const unknown = (table = DISK): Record<string, string> => Object.fromEntries(look(table).unknown)

describe('S8: a link in the structure is gone through', () => {
  it.each<[string, (target: string) => string]>([
    ['by its whole path', (target) => target],
    ['by a path from where it is', () => '../disk/pods'],
    ['by way of other links', () => '../chain'],
  ])('%s', (_how, to) => {
    make('disk/pods')
    symlinkSync('disk', join(base, 'way'))
    symlinkSync(join(base, 'way/pods'), join(base, 'chain'))
    link('pods', to(join(base, 'disk/pods')))
    expect(followed()).toEqual({ pods: 'disk/pods' })
  })

  it('each of its levels, one behind the other', () => {
    make('disk/plugins', 'disk/k', 'disk/csi', 'disk/driver')
    link('plugins', join(base, 'disk/plugins'))
    symlinkSync('../k', join(base, 'disk/plugins/kubernetes.io'))
    symlinkSync('../csi', join(base, 'disk/k/csi'))
    symlinkSync('../driver', join(base, 'disk/csi/ebs.csi.aws.com'))
    expect(followed()).toEqual({
      plugins: 'disk/plugins',
      'plugins/kubernetes.io': 'disk/k',
      [DRIVERS]: 'disk/csi',
      [`${DRIVERS}/ebs.csi.aws.com`]: 'disk/driver',
    })
  })

  it('into a mount of a local disk', () => {
    make('disk')
    link('pods', join(base, 'disk'))
    expect(followed(`${DISK}2 1 8:2 / ${base}/disk rw - xfs /dev/sdb rw\n`)).toEqual({ pods: 'disk' })
  })
})

describe('S8: of any other nothing behind it is known', () => {
  it.each<[string, string, RegExp]>([
    ['nothing is there', '/nonexistent/pods', /^the link leads to nothing$/],
    ['it leads in a circle', 'pods', /circle/],
    ['it is a file', '/etc/passwd', /which is not a directory$/],
    ['the root directory lies in it', '..', /which contains the root directory$/],
    ['it is another directory of the structure', 'plugins', /another directory of the kubelet$/],
  ])('%s', (_what, to, why) => {
    make('kubelet/plugins')
    link('pods', to)
    expect(followed()).toEqual({})
    expect(unknown()).toEqual({ pods: expect.stringMatching(why) })
  })

  it('two lead to the same place, or one into the other', () => {
    make('disk/deeper')
    link('pods', join(base, 'disk'))
    link('plugins', join(base, 'disk/deeper'))
    expect(followed()).toEqual({})
    expect(unknown()).toEqual({ pods: expect.any(String), plugins: expect.stringMatching(/, as \S+\/pods does$/) })
  })

  it.each(['fuse.sshfs', 'nfs4', 'ceph'])('what it leads to is on a %s, which may not answer', (fsType) => {
    make('disk/pods')
    link('pods', join(base, 'disk/pods'))
    const table = `${DISK}2 1 0:99 / ${base}/disk rw - ${fsType} server rw\n`
    expect(followed(table)).toEqual({})
    expect(unknown(table)).toEqual({ pods: expect.stringContaining(fsType) })
  })
})

describe.skipIf(process.getuid?.() !== 0)('S33: a link that somebody else could have made is not obeyed', () => {
  const NOBODY = 65534
  beforeEach(() => {
    make('disk/pods')
    link('pods', join(base, 'disk/pods'))
    expect(followed()).toEqual({ pods: 'disk/pods' })
  })

  it.each<[string, () => void]>([
    ['the link is his', () => lchownSync(join(root, 'pods'), NOBODY, NOBODY)],
    ['the place is his', () => lchownSync(join(base, 'disk/pods'), NOBODY, NOBODY)],
    ['a directory on the way is his', () => lchownSync(join(base, 'disk'), NOBODY, NOBODY)],
    ['anybody may write to a directory on the way', () => chmodSync(join(base, 'disk'), 0o777)],
  ])('%s', (_what, change) => {
    change()
    expect(followed()).toEqual({})
    expect(unknown()).toEqual({ pods: expect.stringMatching(/uid 65534|written by others/) })
  })
})
