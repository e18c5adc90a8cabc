import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { loopsOn } from '../../../src/core/apply/disks/loops-on-disks.ts'
import type { StepContext } from '../../../src/core/apply/operation/step-context.ts'
import { WaitingBudget } from '../../../src/core/apply/operation/waiting-budget.ts'
import { readDeviceNumber, readDeviceUse, readLoops } from '../../../src/core/block/device-use.ts'
import { hiddenFileSystems } from '../../../src/core/block/hidden-file-systems.ts'
import type { OnDisk } from '../../../src/core/block/whole-disk.ts'
import type { Host } from '../../../src/core/host/host.ts'
import { linuxHost } from '../../../src/core/host/linux-host.ts'
import { statesOf } from '../../helpers/apply-plan.ts'
import { detachLoop } from '../../helpers/detach-loops.ts'
import { runScenario, sh } from '../../helpers/scenario.ts'
import { until } from '../../helpers/until.ts'
import { apply, expectNow, makeDir, operation, readMounts, volumeDir } from './real-node.ts'

function image(directory: string): string {
  const file = `${directory}/disk.img`
  writeFileSync(file, '')
  sh('truncate', '-s', '16M', file)
  return file
}

/** @param loops the only ones that there are */
function loopsOnDisk(disk: string, loops: readonly string[], host: Partial<Host> = {}): ReturnType<typeof loopsOn> {
  const run = {
    host: { ...linuxHost, loops: () => readLoops().filter(({ device }) => loops.includes(device)), ...host },
    around: { table: readMounts(), others: [] },
    operation: { steps: [] },
    waiting: new WaitingBudget(20_000),
  } as unknown as StepContext
  const name = disk.slice('/dev/'.length)
  return loopsOn([{ name, dev: readDeviceNumber(disk) ?? '', on: name } as OnDisk], run)
}

await runScenario({
  /** A file system on a loop device: mounted, lazily detached with an open file, free. */
  async superblock(directory) {
    const file = image(directory)
    sh('mkfs.ext4', '-q', '-F', file)
    const device = sh('losetup', '-f', '--show', file)
    const dev = readDeviceNumber(device) ?? ''
    try {
      const target = `${directory}/mnt`
      mkdirSync(target)
      const free = readDeviceUse(dev).users
      sh('mount', device, target)
      const mounted = readDeviceUse(dev).users
      writeFileSync(`${target}/file`, 'x')
      const fd = openSync(`${target}/file`, 'r')
      const shown = hiddenFileSystems([readMounts()]).filter((each) => each.dev === dev)
      sh('umount', '-l', target)
      const hidden = hiddenFileSystems([readMounts()]).filter((each) => each.dev === dev)
      const lazily = { hidden, users: readDeviceUse(dev).users, mounts: readMounts().ofDevice(dev).length }
      const goneWhileOpen = linuxHost.superblockGone(dev, 'ext4')
      closeSync(fd)
      const after = await until(() => readDeviceUse(dev).users.length === 0)
      return { free, mounted, shown, lazily, goneWhileOpen, after }
    } finally {
      detachLoop(device)
    }
  },

  /** Loops on the node of a disk, and of another one, that were made in mount namespaces that have ended since. */
  async hiddenNodes(directory) {
    const disk = sh('losetup', '-f', '--show', image(directory))
    const loops = [disk]
    const at = makeDir(`${directory}/gone`)
    const node = `${at}/${disk.slice('/dev/'.length)}`
    /** A loop on a file that is mounted, or lies on something mounted, for no longer than that. */
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
      const users = async (of: string): Promise<string[]> => {
        const found = await loopsOnDisk(of, loops)
        const names = new Map([disk, map, dev, own].map((each, index) => [each, ['disk', 'map', 'dev', 'own'][index]]))
        return found.map(({ who }) => who.replaceAll(/\/dev\/loop\d+/g, (each) => names.get(each) ?? each)).toSorted()
      }
      return { disk: await users(disk), map: await users(map) }
    } finally {
      for (const loop of loops) detachLoop(loop)
    }
  },

  /** The kernel is asked what is on a loop device once, and again when another file of this name is on it. */
  async anotherFile(directory) {
    const disk = sh('losetup', '-f', '--show', image(directory))
    const file = `${directory}/file`
    sh('truncate', '-s', '16M', file)
    const loop = sh('losetup', '-f', '--show', file)
    let asked = 0
    const run: typeof linuxHost.run = (...call) => {
      asked++
      return linuxHost.run(...call)
    }
    const look = async (): Promise<{ users: number; asked: number }> => {
      const users = await loopsOnDisk(disk, [loop], { run })
      return { users: users.length, asked }
    }
    try {
      const looks = [await look(), await look()]
      detachLoop(loop)
      sh('mount', '--bind', disk, file)
      sh('losetup', loop, file)
      return [...looks, await look()]
    } finally {
      for (const each of [loop, disk]) detachLoop(each)
    }
  },

  /** A block volume's map: the loop device goes, then the bind mount, then the file. */
  async blockMap(directory) {
    const root = makeDir(`${directory}/kubelet`)
    const map = `${makeDir(`${root}/plugins/kubernetes.io/csi/volumeDevices/pv/dev`)}/uid`
    writeFileSync(map, '')
    sh('mount', '--bind', image(directory), map)
    const device = sh('losetup', '-f', '--show', map)
    const before = readLoops()
      .find((loop) => loop.device === device)
      ?.backingFile.slice(root.length)
    const steps = [
      { op: 'losetup -d', target: device },
      { op: 'umount', target: map },
      { op: 'unlink', target: map },
    ] as const
    const planned = operation('a', 1, steps, { kind: 'UnmapVolume', paths: [map], expects: expectNow(map) })
    const result = await apply(root, [planned])
    // The number may be another's by now.
    const loops = readLoops().filter(({ backingFile }) => backingFile.startsWith(root))
    return { before, states: statesOf(result), loops: loops.length }
  },

  /** A local file system with a child mount: busy, named, and nothing removed. */
  async busy(directory) {
    const root = makeDir(`${directory}/kubelet`)
    const file = image(directory)
    sh('mkfs.ext4', '-q', '-F', file)
    const dir = makeDir(volumeDir(root, 1, 'pv', 'kubernetes.io~local-volume'))
    sh('mount', '-o', 'loop', file, dir)
    const fd = openSync(`${dir}/open`, 'w')
    const planned = operation(
      'a',
      1,
      [
        { op: 'umount', target: dir },
        { op: 'rmdir', target: dir },
      ],
      { expects: expectNow(dir) },
    )
    const held = await apply(root, [planned])
    closeSync(fd)
    const free = await apply(root, [planned])
    return { held: statesOf(held), free: statesOf(free) }
  },
})
