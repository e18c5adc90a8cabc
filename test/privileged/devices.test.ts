import { closeSync, openSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import type { StepContext } from '../../src/core/apply/operation/step.ts'
import { deviceUsers, readDeviceNumber, readLoops } from '../../src/core/linux/block/device-use.ts'
import { hiddenFileSystems } from '../../src/core/linux/block/sysfs-block-tree.ts'
import type { OnDisk } from '../../src/core/linux/block/whole-disk.ts'
import { loopsOn } from '../../src/core/rules/disk-users.ts'
import { type Host, linuxHost } from '../../src/core/rules/host.ts'
import { WaitingBudget } from '../../src/core/rules/machine-facts.ts'
import { detachLoop } from '../helpers/detach-loops.ts'
import { it } from '../helpers/machine.ts'
import { noBlockDevices } from '../helpers/namespace.ts'
import { sh } from '../helpers/scenario.ts'
import { until } from '../helpers/until.ts'
import { describeUnless } from './describe-unless.ts'
import { makeDir, readMounts } from './workers/real-node.ts'

function image(directory: string): string {
  const file = `${directory}/disk.img`
  writeFileSync(file, '')
  sh('truncate', '-s', '16M', file)
  return file
}

/** @param loops the only ones that there are */
function loopsOnDisk(disk: string, loops: readonly string[], host: Partial<Host> = {}): ReturnType<typeof loopsOn> {
  const own = readLoops().filter(({ device }) => loops.includes(device))
  const run = {
    host: { ...linuxHost, loops: () => own, ...host },
    around: { table: readMounts(), others: [], kernelFiles: { loops: own } },
    operation: { steps: [] },
    waiting: new WaitingBudget(20_000),
  } as unknown as StepContext
  const name = disk.slice('/dev/'.length)
  return loopsOn([{ name, dev: readDeviceNumber(disk) ?? '', on: name } as OnDisk], run)
}

describeUnless(noBlockDevices, 'block devices', () => {
  it('sees a superblock that no mount table shows any more (S20, S21)', async ({ directory }) => {
    const file = image(directory)
    sh('mkfs.ext4', '-q', '-F', file)
    const device = sh('losetup', '-f', '--show', file)
    const dev = readDeviceNumber(device) ?? ''
    const hidden = () => hiddenFileSystems([readMounts()]).filter((each) => each.dev === dev)
    const users = [
      expect.stringMatching(/^the ext4 file system on \/dev\/loop\d+, /),
      expect.stringMatching(/that has \/dev\/loop\d+ open/),
    ]
    try {
      const target = makeDir(`${directory}/mnt`)
      expect(deviceUsers(dev)).toEqual([])
      sh('mount', device, target)
      expect(deviceUsers(dev)).toEqual(users)
      writeFileSync(`${target}/file`, 'x')
      const fd = openSync(`${target}/file`, 'r')
      expect(hidden()).toEqual([])
      sh('umount', '-l', target)
      expect(hidden()).toEqual([{ device: expect.stringMatching(/^loop\d+$/), dev, fsType: 'ext4' }])
      expect(deviceUsers(dev)).toEqual(users)
      expect(readMounts().ofDevice(dev)).toEqual([])
      expect(linuxHost.superblockGone(dev, 'ext4')).toBe(false)
      closeSync(fd)
      expect(await until(() => deviceUsers(dev).length === 0)).toBe(true)
    } finally {
      detachLoop(device)
    }
  })

  it('knows a loop device by the node that it was made on, where no name leads there any more (S21)', async ({
    directory,
  }) => {
    const disk = sh('losetup', '-f', '--show', image(directory))
    const loops = [disk]
    const at = makeDir(`${directory}/gone`)
    const node = `${at}/${disk.slice('/dev/'.length)}`
    /** In a mount namespace that ends: a loop on a file that is mounted, or lies on something mounted, for no longer than that. */
    const made = (file: string, mount: string): string => {
      const script = `${mount} && exec losetup -f --show ${file}`
      const loop = sh('unshare', '-m', '--propagation', 'private', 'sh', '-c', script)
      loops.unshift(loop)
      return loop
    }
    try {
      writeFileSync(`${directory}/map`, '')
      const map = made(`${directory}/map`, `mount --bind ${disk} ${directory}/map`)
      const dev = made(node, `mount -t devtmpfs devtmpfs ${at}`)
      const own = made(`${at}/xvda`, `mount -t tmpfs tmpfs ${at} && mknod ${at}/xvda b 7 ${/\d+/.exec(disk)}`)
      const names = new Map([disk, map, dev, own].map((each, index) => [each, ['disk', 'map', 'dev', 'own'][index]]))
      const users = async (of: string): Promise<string[]> =>
        (await loopsOnDisk(of, loops))
          .map(({ who }) => who.replaceAll(/\/dev\/loop\d+/g, (each) => names.get(each) ?? each))
          .toSorted()
      const possibly = 'possibly own: its backing file /xvda could not be identified'
      expect(await users(disk)).toEqual([
        expect.stringMatching(/^dev, backed by \/loop\d+$/),
        'map, backed by /',
        possibly,
      ])
      expect(await users(map)).toEqual([possibly])
    } finally {
      for (const loop of loops) detachLoop(loop)
    }
  })

  it('asks of each loop device once which file is on it, and again when that is another one (S21)', async ({
    directory,
  }) => {
    const disk = sh('losetup', '-f', '--show', image(directory))
    const file = `${directory}/file`
    sh('truncate', '-s', '16M', file)
    const loop = sh('losetup', '-f', '--show', file)
    let asked = 0
    const run: typeof linuxHost.run = (...call) => {
      asked++
      return linuxHost.run(...call)
    }
    const look = async () => ({ users: (await loopsOnDisk(disk, [loop], { run })).length, asked })
    try {
      expect([await look(), await look()]).toEqual([
        { users: 0, asked: 1 },
        { users: 0, asked: 1 },
      ])
      detachLoop(loop)
      sh('mount', '--bind', disk, file)
      sh('losetup', loop, file)
      expect(await look()).toEqual({ users: 1, asked: 2 })
    } finally {
      for (const each of [loop, disk]) detachLoop(each)
    }
  })
})
