/** FC with a real file system: a loop device stands for the LUN's disk in a fabricated sysfs, which comes with a rescan. */
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { readDeviceNumber } from '../../../src/core/block/device-use.ts'
import { SysfsBlockTree } from '../../../src/core/block/sysfs-block-tree.ts'
import type { Host } from '../../../src/core/host/host.ts'
import { linuxHost } from '../../../src/core/host/linux-host.ts'
import { statesOf } from '../../helpers/apply-plan.ts'
import { detachLoop } from '../../helpers/detach-loops.ts'
import { LiveNode } from '../../helpers/live-node.ts'
import { runScenario, sh } from '../../helpers/scenario.ts'

const POD = '00000000-0000-4000-8000-000000000001'
const WWN = '50060e801049cfd1'
const STAND_INS = new Set(['tee', 'blockdev'])

function text(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${content}\n`)
}

function program(path: string, ...lines: readonly string[]): void {
  text(path, `#!/bin/sh\n${lines.join('\n')}`)
  chmodSync(path, 0o755)
}

function fabricate(directory: string, device: string): void {
  const [sys, bin, disk] = [`${directory}/sys`, `${directory}/bin`, device.slice('/dev/'.length)]
  const dev = readDeviceNumber(device)
  text(`${sys}/class/scsi_host/host20/scan`, '')
  mkdirSync(`${sys}/class/fc_host/host20`, { recursive: true })
  text(`${sys}/class/fc_transport/target20:0:0/port_name`, `0x${WWN}`)
  text(`${sys}/devices/20:0:0:1/delete`, '')
  mkdirSync(`${directory}/dev/disk/by-path`, { recursive: true })
  symlinkSync(`../../${disk}`, `${directory}/dev/disk/by-path/pci-0000:05:00.0-fc-0x${WWN}-lun-1`)
  const record = `echo "$(basename "$0") $*" >> ${directory}/log`
  program(
    `${bin}/tee`,
    record,
    'case "$*" in',
    `*/scan) mkdir -p ${sys}/block/${disk} ${sys}/dev/block; echo ${dev} > ${sys}/block/${disk}/dev`,
    `  ln -s ${sys}/devices/20:0:0:1 ${sys}/block/${disk}/device; ln -s ../../block/${disk} ${sys}/dev/block/${dev};;`,
    `*) rm -r ${sys}/block/${disk} ${sys}/dev/block/*; rm ${directory}/dev/disk/by-path/*;;`,
    'esac',
  )
  program(`${bin}/blockdev`, record)
}

function hostOf(directory: string): Host {
  const where = (name: string) => (STAND_INS.has(name) ? `${directory}/bin/${name}` : name)
  return {
    ...linuxHost,
    blockTree: new SysfsBlockTree(`${directory}/sys`, `${directory}/dev`),
    requireCommand: (name) => linuxHost.requireCommand(where(name)),
    run: (name, args, deadlineMs, input) => linuxHost.run(where(name), args, deadlineMs, input),
  }
}

await runScenario({
  async bothWays(directory) {
    const file = `${directory}/disk.img`
    sh('truncate', '-s', '64M', file)
    sh('mkfs.ext4', '-qF', file)
    const device = sh('losetup', '-f', '--show', file)
    try {
      fabricate(directory, device)
      const node = new LiveNode(directory)
      node.context = { host: hostOf(directory), deviceWaitMs: 5000 }
      const name = `kubernetes.io/fc/[${WWN}]:1`
      const listed = { volumesAttached: [{ name, devicePath: '' }], volumesInUse: [name] }
      node.node = { ...node.node, status: { ...node.node.status, ...listed } }
      node.pod(POD, 'a', [{ name: 'data', fc: { targetWWNs: [WWN], lun: 1, fsType: 'ext4' } }])
      const global = `${node.root}/plugins/kubernetes.io/fc/${WWN}-lun-1`
      const states = Object.values(statesOf(await node.apply()))
      writeFileSync(`${node.root}/pods/${POD}/volumes/kubernetes.io~fc/data/file`, 'data')
      const there = existsSync(`${global}/file`)
      const after = (await node.plan()).operations
      node.forget(POD)
      const gone = await node.apply()
      return {
        states,
        there,
        after,
        gone: gone.outcomes.map(({ kind, state, message }) => (state === 'done' ? `${kind} done` : message)),
        mounts: node.mounted().length,
        left: (await node.plan()).operations.length,
        log: readFileSync(`${directory}/log`, 'utf8')
          .replaceAll(directory, '')
          .replaceAll(/loop\d+/g, 'DISK')
          .trim()
          .split('\n'),
      }
    } finally {
      detachLoop(device)
    }
  },
})
