/** S3: what sysfs does not let volctl read of a device is not taken for something that is not there. */
import { mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { deviceUsers, isSuperblockGone, readLoops } from '../../src/core/linux/block/device-use.ts'
import { hiddenFileSystems } from '../../src/core/linux/block/sysfs-block-tree.ts'
import { fixture } from '../node/helpers/fixture.ts'

const QUESTIONS: readonly (readonly [what: string, unreadable: string, ask: (sys: string) => unknown])[] = [
  ['what is built on a device', 'sdb/holders', (sys) => deviceUsers('8:16', sys)],
  ['whether there is a device', 'dev/block/8:17', (sys) => deviceUsers('8:17', sys)],
  ['whether a FUSE connection has gone', 'fs/fuse/connections/41', (sys) => isSuperblockGone('0:41', 'fuse', sys)],

  ['which loop devices there are', 'block', (sys) => readLoops(sys)],
  ['which file systems live on', 'fs/xfs', (sys) => hiddenFileSystems([], sys)],
]

it.each(QUESTIONS)('%s', (_, unreadable, ask) => {
  using sys = fixture({ 'sdb/uevent': 'MAJOR=8\n', 'dev/block/7:0/dev': '7:0\n', 'class/block/sdc/dev': '8:32\n' })
  symlinkSync('../../sdb', join(sys.path, 'dev/block/8:16'))
  const at = join(sys.path, unreadable)
  mkdirSync(dirname(at), { recursive: true })
  symlinkSync('.loop', at)
  symlinkSync('.loop', join(dirname(at), '.loop'))
  expect(() => ask(sys.path)).toThrow('ELOOP')
})

it('a file system whose number is no disk’s is in no list of disks: whether it is gone is unknown', () => {
  using sys = fixture({ 'fs/btrfs/features/x': '', 'dev/block/8:16/x': '' })
  expect(['btrfs', 'bcachefs'].map((type) => isSuperblockGone('0:45', type, sys.path))).toEqual([false, false])
})
