/**
 * What a kubelet has set up and volctl only takes down: iSCSI, FC and flexVolumes, with real file systems and mounts. A loop device
 * stands for the LUN's disk in a fabricated sysfs, and programs stand in for open-iscsi, the kernel and the driver.
 */
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { readDeviceNumber } from '../../src/core/block/device-use.ts'
import { SysfsBlockTree } from '../../src/core/block/sysfs-block-tree.ts'
import type { Host } from '../../src/core/host/host.ts'
import { linuxHost } from '../../src/core/host/linux-host.ts'
import { detachLoop } from '../helpers/detach-loops.ts'
import { LiveNode } from '../helpers/live-node.ts'
import { runScenario, sh } from '../helpers/scenario.ts'

const POD = '00000000-0000-4000-8000-000000000001'
const OTHER = '00000000-0000-4000-8000-000000000002'
const PORTAL = '10.0.0.1:3260'
const IQN = 'iqn.2003-01.test:disk'
const LUN = `${PORTAL}-${IQN}-lun-1`
const WWN = '50060e801049cfd1'
const STAND_INS = new Set(['iscsiadm', 'tee', 'blockdev'])

function text(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${content}\n`)
}

function program(path: string, ...lines: readonly string[]): string {
  text(path, `#!/bin/sh\n${lines.join('\n')}`)
  chmodSync(path, 0o755)
  return path
}

function makeDir(path: string): string {
  mkdirSync(path, { recursive: true })
  return path
}

/** A disk in sysfs, and the programs that take it away. @param at the SCSI device's directory there */
function fabricate(directory: string, device: string, at: string): void {
  const [sys, bin, disk, dev] = [`${directory}/sys`, `${directory}/bin`, nameOf(device), readDeviceNumber(device) ?? '']
  text(`${sys}/block/${disk}/dev`, dev)
  makeDir(`${at}/block/${disk}`)
  text(`${at}/delete`, '')
  symlinkSync(at, `${sys}/block/${disk}/device`)
  symlinkSync(`../../block/${disk}`, `${makeDir(`${sys}/dev/block`)}/${dev}`)
  const record = `echo "$(basename "$0") $*" >> ${directory}/log`
  const links = makeDir(`${directory}/dev/disk/by-path`)
  program(`${bin}/tee`, record, `rm -r ${sys}/block/${disk} ${sys}/dev/block/${dev} ${at}; rm -f ${links}/*`)
  program(`${bin}/blockdev`, record)
  program(`${bin}/iscsiadm`, record, `case "$*" in *--logout) rm -r ${sys}/class/iscsi_host/host1;; esac`)
}

function fabricateSession(directory: string, device: string): void {
  const session = `${directory}/sys/class/iscsi_host/host1/device/session1`
  text(`${session}/iscsi_session/session1/targetname`, IQN)
  text(`${session}/iscsi_session/session1/ifacename`, 'default')
  const connection = `${session}/connection1:0/iscsi_connection/connection1:0`
  text(`${connection}/persistent_address`, '10.0.0.1')
  text(`${connection}/persistent_port`, '3260')
  fabricate(directory, device, `${session}/target1:0:0/1:0:0:1`)
  symlinkSync(`../../${nameOf(device)}`, `${directory}/dev/disk/by-path/ip-${PORTAL}-iscsi-${IQN}-lun-1`)
}

const nameOf = (device: string) => device.slice('/dev/'.length)

function writeRecord(global: string): void {
  const record = { VolName: 'pv', Portals: [PORTAL], Iqn: IQN, Lun: '1', Iface: 'default', InitiatorName: '' }
  text(`${global}/iscsi.json`, JSON.stringify(record))
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

/** @param name the volume's unique name, which the Node lists */
function nodeOf(directory: string, name: string): LiveNode {
  const node = new LiveNode(directory)
  node.context = { host: hostOf(directory) }
  const listed = { volumesAttached: [{ name, devicePath: '' }], volumesInUse: [name] }
  node.node = { ...node.node, status: { ...node.node.status, ...listed } }
  return node
}

async function withDisk<T>(directory: string, work: (device: string) => Promise<T>): Promise<T> {
  const file = `${directory}/disk.img`
  sh('truncate', '-s', '64M', file)
  sh('mkfs.ext4', '-qF', file)
  const device = sh('losetup', '-f', '--show', file)
  try {
    return await work(device)
  } finally {
    detachLoop(device)
  }
}

/** What is to be done while the pods want it, what is done once they are gone, and what is left then. */
async function bothWays(directory: string, node: LiveNode, ...uids: readonly string[]) {
  const { operations, waiting } = await node.plan()
  for (const uid of uids) node.forget(uid)
  const { outcomes } = await node.apply()
  return {
    wanted: [...operations, ...waiting],
    gone: outcomes.map(({ kind, state, message }) => (state === 'done' ? `${kind} done` : message)),
    mounts: node.mounted().length,
    left: (await node.plan()).operations.map(({ kind }) => kind),
    log: readFileSync(`${directory}/log`, 'utf8')
      .replaceAll(`${node.root}/`, '')
      .replaceAll(directory, '')
      .replaceAll(/loop\d+/g, 'DISK')
      .trim()
      .split('\n'),
  }
}

await runScenario({
  iscsi: (directory) =>
    withDisk(directory, async (device) => {
      fabricateSession(directory, device)
      const node = nodeOf(directory, `kubernetes.io/iscsi/${PORTAL}:${IQN}:1`)
      node.pod(POD, 'a', [{ name: 'data', iscsi: { targetPortal: PORTAL, iqn: IQN, lun: 1 } }])
      const global = `${node.root}/plugins/kubernetes.io/iscsi/iface-default/${LUN}`
      writeRecord(global)
      sh('mount', device, global)
      sh('mount', '--bind', global, makeDir(`${node.root}/pods/${POD}/volumes/kubernetes.io~iscsi/data`))
      return bothWays(directory, node, POD)
    }),

  iscsiBlock: (directory) =>
    withDisk(directory, async (device) => {
      fabricateSession(directory, device)
      const node = nodeOf(directory, `kubernetes.io/iscsi/${PORTAL}:${IQN}:1`)
      node.persistentVolume('pv', { iscsi: { targetPortal: PORTAL, iqn: IQN, lun: 1 }, volumeMode: 'Block' })
      const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'claim-pv' } }]
      node.pod(POD, 'a', volumes, { devices: true })
      const maps = `${node.root}/plugins/kubernetes.io/iscsi/volumeDevices/iface-default/${LUN}`
      writeRecord(maps)
      writeFileSync(`${maps}/${POD}`, '')
      sh('mount', '--bind', device, `${maps}/${POD}`)
      symlinkSync(device, `${makeDir(`${node.root}/pods/${POD}/volumeDevices/kubernetes.io~iscsi`)}/pv`)
      sh('losetup', '-f', `${maps}/${POD}`)
      return bothWays(directory, node, POD)
    }),

  fc: (directory) =>
    withDisk(directory, async (device) => {
      const sys = `${directory}/sys`
      fabricate(directory, device, `${sys}/devices/20:0:0:1`)
      text(`${sys}/class/fc_transport/target20:0:0/port_name`, `0x${WWN}`)
      symlinkSync(`../../${nameOf(device)}`, `${directory}/dev/disk/by-path/pci-0000:05:00.0-fc-0x${WWN}-lun-1`)
      const node = nodeOf(directory, `kubernetes.io/fc/[${WWN}]:1`)
      node.pod(POD, 'a', [{ name: 'data', fc: { targetWWNs: [WWN], lun: 1 } }])
      const global = makeDir(`${node.root}/plugins/kubernetes.io/fc/${WWN}-lun-1`)
      sh('mount', device, global)
      sh('mount', '--bind', global, makeDir(`${node.root}/pods/${POD}/volumes/kubernetes.io~fc/data`))
      return bothWays(directory, node, POD)
    }),

  /** A driver that attaches, and unmounts the device alone: pods are bound to that. */
  async flex(directory) {
    const executable = program(
      `${directory}/exec/v~d/d`,
      `echo "$1 $2" >> ${directory}/log`,
      'case "$1" in',
      `unmountdevice) umount "$2" && echo '{"status":"Success"}';;`,
      `*) echo '{"status":"Not supported"}'; exit 1;;`,
      'esac',
    )
    const node = nodeOf(directory, 'v/d/data')
    node.override = { flexDrivers: [{ name: 'v/d', executable }] }
    const global = makeDir(`${node.root}/plugins/kubernetes.io/flexvolume/v/d/mounts/data`)
    sh('mount', '-t', 'tmpfs', 'flex', global)
    for (const [uid, name] of [
      [POD, 'a'],
      [OTHER, 'b'],
    ] as const) {
      node.pod(uid, name, [{ name: 'data', flexVolume: { driver: 'v/d' } }])
      sh('mount', '--bind', global, makeDir(`${node.root}/pods/${uid}/volumes/v~d/data`))
    }
    return bothWays(directory, node, POD, OTHER)
  },
})
