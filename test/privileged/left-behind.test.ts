/**
 * What a kubelet has set up and volctl only takes down: iSCSI, FC and flexVolumes, with real file systems and mounts. A loop device
 * stands for the LUN's disk in a fabricated sysfs, and programs stand in for open-iscsi, the kernel and the driver.
 */
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect } from 'vitest'
import { readDeviceNumber } from '../../src/core/linux/block/device-use.ts'
import { sysfsBlockTree } from '../../src/core/linux/block/sysfs-block-tree.ts'
import { type Host, linuxHost } from '../../src/core/node/host.ts'
import { LiveNode, OTHER, POD } from '../helpers/live-node.ts'
import { it } from '../helpers/machine.ts'
import { noBlockDevices } from '../helpers/namespace.ts'
import { sh } from '../helpers/scenario.ts'
import { describeUnless } from './describe-unless.ts'
import { withDisk } from './with-disk.ts'
import { makeDir } from './workers/real-node.ts'

const PORTAL = '10.0.0.1:3260'
const IQN = 'iqn.2003-01.test:disk'
const LUN = `${PORTAL}-${IQN}-lun-1`
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
    blockTree: sysfsBlockTree(`${directory}/sys`, `${directory}/dev`),
    requireCommand: (name) => linuxHost.requireCommand(where(name)),
    run: (name, args, deadlineMs, input) => linuxHost.run(where(name), args, deadlineMs, input),
  }
}

/** @param name the volume's unique name, which the Node lists */
function nodeOf(directory: string, name: string): LiveNode {
  const node = new LiveNode(directory)
  node.context = { host: hostOf(directory) }
  node.attached.push(name)
  node.inUse.push(name)
  return node
}

/** Nothing is to be done while the pods want it; once they are gone, it goes. @returns what was done, and by which calls */
async function goes(directory: string, node: LiveNode, ...uids: readonly string[]) {
  const { operations, waiting } = await node.plan()
  expect([...operations, ...waiting]).toEqual([])
  for (const uid of uids) node.forget(uid)
  const ends = await node.ended()
  expect([...node.mounted(), ...(await node.operations())]).toEqual([])
  return [ends, logOf(directory, node.root)]
}

const logOf = (directory: string, root: string): string[] =>
  readFileSync(`${directory}/log`, 'utf8')
    .replaceAll(`${root}/`, '')
    .replaceAll(directory, '')
    .replaceAll(/loop\d+/g, 'DISK')
    .trim()
    .split('\n')

const REMOVED = ['blockdev --flushbufs /dev/DISK', 'tee -- /sys/block/DISK/device/delete']
const ISCSIADM = `iscsiadm -m node -p ${PORTAL} -T ${IQN} -I default`
const LOGGED_OUT = [...REMOVED, `${ISCSIADM} --logout`, `${ISCSIADM} -o delete`]

/** A node with an iSCSI volume that a kubelet has mounted. */
function iscsiNode(directory: string, device: string): { node: LiveNode; global: string } {
  fabricateSession(directory, device)
  const node = nodeOf(directory, `kubernetes.io/iscsi/${PORTAL}:${IQN}:1`)
  node.pod(POD, 'a', [{ name: 'data', iscsi: { targetPortal: PORTAL, iqn: IQN, lun: 1 } }])
  const global = `${node.root}/plugins/kubernetes.io/iscsi/iface-default/${LUN}`
  writeRecord(global)
  sh('mount', device, global)
  sh('mount', '--bind', global, makeDir(`${node.root}/pods/${POD}/volumes/kubernetes.io~iscsi/data`))
  return { node, global }
}

describeUnless(noBlockDevices, 'what a kubelet set up', () => {
  it('of iSCSI is as it should be, and goes with its pod, session and all (P76)', ({ directory }) =>
    withDisk(directory, 'ext4', async (device) => {
      const { node } = iscsiNode(directory, device)
      expect(await goes(directory, node, POD)).toEqual([['UnmountVolume done', 'UnmountDevice done'], LOGGED_OUT])
    }))
})

it('flexVolume drivers: one that attaches, and unmounts the device alone: the binds of pods go before it (P86-P88)', async ({
  directory,
}) => {
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
  const unmount = expect.stringMatching(/^unmount /)
  expect(await goes(directory, node, POD, OTHER)).toEqual([
    ['UnmountVolume done', 'UnmountVolume done', 'UnmountDevice done'],
    [unmount, unmount, 'unmountdevice plugins/kubernetes.io/flexvolume/v/d/mounts/data'],
  ])
})
