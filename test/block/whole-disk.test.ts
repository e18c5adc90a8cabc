/** The disk and everything on it, on recorded sysfs trees: the kernel of a test machine has no device mapper or md (S21). */
import { mkdirSync, symlinkSync } from 'node:fs'
import { beforeEach, describe, expect, it } from 'vitest'
import { isPassive, wholeDisk } from '../../src/core/linux/block/whole-disk.ts'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import type { MachineFacts } from '../../src/core/rules/machine-facts.ts'
import { ownOf } from '../../src/core/rules/node-stack.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { type RecordedDevice, recordDisks } from './recorded-disks.ts'

let sys: string
beforeEach(() => {
  sys = temporaryDirectory()
})

const TREES = {
  'LUKS on a partition': [
    { name: 'sdb', dev: '8:16' },
    { name: 'sdb1', dev: '8:17', disk: 'sdb' },
    { name: 'sdb2', dev: '8:18', disk: 'sdb' },
    { name: 'dm-0', dev: '253:0', uuid: 'CRYPT-LUKS2-9f86d081884c7d65-luks-vol', slaves: ['sdb1'] },
  ],
  'two logical volumes on one disk': [
    { name: 'sdb', dev: '8:16' },
    { name: 'dm-1', dev: '253:1', uuid: 'LVM-1Fqpl0MTr0q5', slaves: ['sdb'] },
    { name: 'dm-2', dev: '253:2', uuid: 'LVM-1Fqpl0MTr0q6', slaves: ['sdb'] },
  ],
  'an array of two disks': [
    { name: 'sdb', dev: '8:16' },
    { name: 'sdb1', dev: '8:17', disk: 'sdb' },
    { name: 'sdc', dev: '8:32' },
    { name: 'sdc1', dev: '8:33', disk: 'sdc' },
    { name: 'sdc2', dev: '8:34', disk: 'sdc' },
    { name: 'md127', dev: '9:127', slaves: ['sdb1', 'sdc1'] },
    { name: 'md127p1', dev: '259:0', disk: 'md127' },
  ],
  'bcache on a disk': [
    { name: 'sdb', dev: '8:16' },
    { name: 'nvme0n1', dev: '259:1' },
    { name: 'bcache0', dev: '252:0', slaves: ['nvme0n1', 'sdb'] },
    { name: 'bcache0p1', dev: '252:1', disk: 'bcache0' },
  ],
  'multipath with partitions of kpartx': [
    { name: 'sdb', dev: '8:16' },
    { name: 'sdc', dev: '8:32' },
    { name: 'dm-0', dev: '253:0', uuid: 'mpath-3600508b400105e21', slaves: ['sdb', 'sdc'] },
    { name: 'dm-1', dev: '253:1', uuid: 'part1-mpath-3600508b400105e21', slaves: ['dm-0'] },
    { name: 'dm-2', dev: '253:2', uuid: 'part2-mpath-3600508b400105e21', slaves: ['dm-0'] },
  ],
} as const satisfies Record<string, readonly RecordedDevice[]>

const NOTHING = new Set<string>()

describe('the disk and everything on it (S21)', () => {
  it.each<{ tree: keyof typeof TREES; from: string; want: readonly string[]; below: readonly string[] }>([
    {
      tree: 'LUKS on a partition',
      from: '253:0',
      want: ['dm-0', 'sdb1', 'sdb', 'sdb2'],
      below: ['dm-0', 'sdb1', 'sdb'],
    },
    { tree: 'LUKS on a partition', from: '8:16', want: ['sdb', 'sdb1', 'dm-0', 'sdb2'], below: ['sdb'] },
    {
      tree: 'two logical volumes on one disk',
      from: '253:1',
      want: ['dm-1', 'sdb', 'dm-2'],
      below: ['dm-1', 'sdb'],
    },
    {
      tree: 'an array of two disks',
      from: '9:127',
      want: ['md127', 'sdb1', 'sdb', 'sdc1', 'sdc', 'md127p1', 'sdc2'],
      below: ['md127', 'sdb1', 'sdb', 'sdc1', 'sdc'],
    },
    // The other disk of the array is not taken away.
    { tree: 'an array of two disks', from: '8:16', want: ['sdb', 'sdb1', 'md127', 'md127p1'], below: ['sdb'] },
    {
      tree: 'bcache on a disk',
      from: '252:1',
      want: ['bcache0p1', 'bcache0', 'nvme0n1', 'sdb'],
      below: ['bcache0p1', 'bcache0', 'nvme0n1', 'sdb'],
    },
    { tree: 'bcache on a disk', from: '8:16', want: ['sdb', 'bcache0', 'bcache0p1'], below: ['sdb'] },
    {
      tree: 'multipath with partitions of kpartx',
      from: '253:1',
      want: ['dm-1', 'dm-0', 'sdb', 'sdc', 'dm-2'],
      below: ['dm-1', 'dm-0', 'sdb', 'sdc'],
    },
    {
      tree: 'multipath with partitions of kpartx',
      from: '8:16',
      want: ['sdb', 'dm-0', 'dm-1', 'dm-2', 'sdc'],
      below: ['sdb'],
    },
  ])('$tree, from $from', ({ tree, from, want, below }) => {
    const found = wholeDisk([from], recordDisks(sys, TREES[tree]), { own: NOTHING, throughLvm: true })
    expect(found.map(({ name }) => name).toSorted()).toEqual([...want].toSorted())
    expect(
      found
        .filter(({ isBelow }) => isBelow)
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual([...below].toSorted())
  })

  it('before an unstage, not from a logical volume to what else is on its disk', () => {
    const tree = recordDisks(sys, TREES['two logical volumes on one disk'])
    const found = wholeDisk(['253:1'], tree, { own: NOTHING, throughLvm: false })
    expect(found.map(({ name }) => name)).toEqual(['dm-1'])
  })

  it('a number that sysfs does not know is still asked for', () => {
    const [node] = wholeDisk(['8:64'], recordDisks(sys, []), { own: NOTHING, throughLvm: true })
    expect(node).toMatchObject({ name: '8:64', dev: '8:64' })
  })

  it('not through the disk that the root file system is on: it is not what is taken away', () => {
    const tree = recordDisks(sys, [
      { name: 'sda', dev: '8:0' },
      { name: 'sda1', dev: '8:1', disk: 'sda' },
      { name: 'sda2', dev: '8:2', disk: 'sda' },
      { name: 'dm-0', dev: '253:0', uuid: 'LVM-root', slaves: ['sda1'] },
      { name: 'dm-1', dev: '253:1', uuid: 'LVM-vol', slaves: ['sda1'] },
    ])
    const table = parseMountinfo(
      ['1 1 253:0 / / rw - ext4 /dev/mapper/root rw', '2 1 8:34 / /data rw - xfs /dev/sdc2 rw', ''].join('\n'),
    )
    const readSmallFile = (): string => '# none\n/dev/sdc2 /data xfs defaults 0 0\n'
    const host = { blockTree: tree, readSmallFile }
    const facts = { around: { table, others: [] }, plan: { rootDir: '/var/lib/kubelet' }, host }
    const own = ownOf(facts as unknown as MachineFacts)
    expect([...own.devices].toSorted()).toEqual(['dm-0', 'sda', 'sda1'])
    expect([...own.fileSystems].toSorted()).toEqual(['253:0', '8:34'])
    const names = (dev: string) =>
      wholeDisk([dev], tree, { own: own.devices, throughLvm: true }).map(({ name }) => name)
    expect(names('253:1')).toEqual(['dm-1'])
    expect(names('8:2')).toEqual(['sda2'])
  })

  it('a multipath map and its partitions are no use by themselves, anything else that is made of a disk is', () => {
    const tree = recordDisks(sys, [
      ...TREES['multipath with partitions of kpartx'],
      { name: 'dm-3', dev: '253:3', uuid: 'CRYPT-LUKS2-1', slaves: ['dm-2'] },
    ])
    const passive = ['dm-0', 'dm-1', 'dm-3'].map((name) => {
      const node = tree.node(name)
      return node !== undefined && isPassive(node)
    })
    expect(passive).toEqual([true, true, false])
  })
})

it('file systems of several devices: know the devices beside one of theirs (btrfs, bcachefs)', () => {
  const tree = recordDisks(sys, [
    { name: 'sdb', dev: '8:16' },
    { name: 'sdc', dev: '8:32' },
    { name: 'sdd', dev: '8:48' },
  ])
  mkdirSync(`${sys}/fs/btrfs/features`, { recursive: true })
  for (const name of ['sdb', 'sdc']) mkdirSync(`${sys}/fs/btrfs/8d6c/devices/${name}`, { recursive: true })
  for (const [index, name] of ['sdc', 'sdd'].entries()) {
    mkdirSync(`${sys}/fs/bcachefs/77aa/dev-${index}`, { recursive: true })
    symlinkSync(`${sys}/devices/${name}`, `${sys}/fs/bcachefs/77aa/dev-${index}/block`)
  }
  expect(tree.devicesBeside('sdb')).toEqual(['sdc'])
  expect(tree.devicesBeside('sdd')).toEqual(['sdc'])
  expect(tree.devicesBeside('sde')).toEqual([])
})
