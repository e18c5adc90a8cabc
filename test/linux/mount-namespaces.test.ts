import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { mountedOnElsewhere, readOtherNamespaces, unseenNamespaces } from '../../src/core/linux/mount-namespaces.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

let proc: string

beforeEach(() => {
  proc = temporaryDirectory()
  addProcess('self', { mnt: 'mnt:[1]', user: 'user:[1]' }, '')
})

/** A process of a /proc that is only files. */
function addProcess(
  pid: number | string,
  { mnt, user }: { mnt: string; user: string },
  table: string | undefined,
): void {
  mkdirSync(`${proc}/${pid}/ns`, { recursive: true })
  symlinkSync(mnt, `${proc}/${pid}/ns/mnt`)
  symlinkSync(user, `${proc}/${pid}/ns/user`)
  symlinkSync('/', `${proc}/${pid}/root`)
  mkdirSync(`${proc}/${pid}/task/${pid}`, { recursive: true })
  writeFileSync(`${proc}/${pid}/comm`, `p${pid}\n`)
  if (table !== undefined) writeFileSync(`${proc}/${pid}/mountinfo`, table)
}

const LINE = '2 1 0:7 / /data rw - tmpfs tmpfs rw\n'
const ROOT = '1 0 8:1 / / rw - ext4 /dev/a rw\n'
const mib = (count: number): string => ROOT + LINE.repeat(Math.ceil((count * 1024 * 1024) / LINE.length))

describe('S3, S34: tables of other namespaces are bounded, and what is not read is named', () => {
  const seen = () => readOtherNamespaces(proc)

  it('S39: a table that a user filled counts for nothing; those beside it are read', () => {
    addProcess(5, { mnt: 'mnt:[5]', user: 'user:[9]' }, mib(5))
    addProcess(6, { mnt: 'mnt:[6]', user: 'user:[9]' }, ROOT)
    addProcess(7, { mnt: 'mnt:[7]', user: 'user:[1]' }, mib(5))
    expect(seen().map(({ pid, anybodys, table }) => [pid, anybodys, table.all.length > 0])).toEqual([
      [5, 'mnt:[5]', false],
      [6, 'mnt:[6]', true],
      [7, undefined, true],
    ])
    expect(unseenNamespaces(seen())).toEqual([])
    expect(mountedOnElsewhere({ dev: '8:1', path: '/data' }, seen())).toMatchObject({ pid: 7 })
  })

  it('of many tables that users filled, so many are read as fit together, and root’s are read all the same', () => {
    for (let pid = 10; pid < 20; pid++) addProcess(pid, { mnt: `mnt:[${pid}]`, user: 'user:[9]' }, mib(3))
    addProcess(30, { mnt: 'mnt:[30]', user: 'user:[1]' }, ROOT)
    expect(seen().flatMap(({ pid, table }) => (table.all.length > 0 ? pid : []))).toEqual([10, 11, 12, 13, 14, 30])
  })

  it('a process that has ended has none; one that may not be read is not “none”', () => {
    // Who is not root is told of its rights instead.
    using _root = vi.spyOn(process, 'geteuid').mockReturnValue(0)
    addProcess(5, { mnt: 'mnt:[5]', user: 'user:[1]' }, undefined)
    addProcess(6, { mnt: 'mnt:[6]', user: 'user:[1]' }, undefined)
    mkdirSync(`${proc}/6/mountinfo`)
    expect(unseenNamespaces(seen()).map(({ text }) => text)).toEqual([
      'the mount namespace of p6 (pid 6) could not be read: it may not be read',
    ])
  })

  it('a damaged table is unseen', () => {
    addProcess(5, { mnt: 'mnt:[5]', user: 'user:[1]' }, 'nonsense\n')
    expect(unseenNamespaces(seen())).toHaveLength(1)
  })
})
