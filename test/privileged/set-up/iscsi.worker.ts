/**
 * iSCSI with real file systems and mounts: a loop device stands for the LUN's disk in a fabricated sysfs, and programs
 * stand in for open-iscsi and the kernel's SCSI hosts.
 */
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { readDeviceNumber } from '../../../src/core/block/device-use.ts'
import { SysfsBlockTree } from '../../../src/core/block/sysfs-block-tree.ts'
import type { Host } from '../../../src/core/host/host.ts'
import { linuxHost } from '../../../src/core/host/linux-host.ts'
import { statesOf } from '../../helpers/apply-plan.ts'
import { detachLoop } from '../../helpers/detach-loops.ts'
import { LiveNode } from '../../helpers/live-node.ts'
import { thisProgram } from '../../helpers/programs.ts'
import { runScenario, sh } from '../../helpers/scenario.ts'

const POD = '00000000-0000-4000-8000-000000000001'
const PORTAL = '10.0.0.1:3260'
const IQN = 'iqn.2003-01.test:disk'
const LUN_NAME = `${PORTAL}-${IQN}-lun-1`
const SOURCE = { targetPortal: PORTAL, iqn: IQN, lun: 1, fsType: 'ext4' }
const STAND_INS = new Set(['iscsiadm', 'tee', 'blockdev'])

function text(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${content}\n`)
}

function program(path: string, ...lines: readonly string[]): void {
  text(path, `#!/bin/sh\n${lines.join('\n')}`)
  chmodSync(path, 0o755)
}

/** What is there before a log-in: programs, and beside sysfs what a log-in and a scan bring. */
function fabricate(directory: string, device: string): void {
  const [sys, bin, disk] = [`${directory}/sys`, `${directory}/bin`, device.slice('/dev/'.length)]
  const session = `${directory}/logged-in/device/session1`
  text(`${session}/iscsi_session/session1/targetname`, IQN)
  text(`${session}/iscsi_session/session1/ifacename`, 'default')
  const connection = `${session}/connection1:0/iscsi_connection/connection1:0`
  text(`${connection}/persistent_address`, '10.0.0.1')
  text(`${connection}/persistent_port`, '3260')
  const lun = `${sys}/class/iscsi_host/host1/device/session1/target1:0:0/1:0:0:1`
  mkdirSync(`${sys}/class/iscsi_host`, { recursive: true })
  mkdirSync(`${directory}/dev/disk/by-path`, { recursive: true })
  symlinkSync(`../../${disk}`, `${directory}/dev/disk/by-path/ip-${PORTAL}-iscsi-${IQN}-lun-1`)
  const record = `echo "$(basename "$0") $*" >> ${directory}/log`
  program(
    `${bin}/iscsiadm`,
    record,
    'case "$*" in',
    `*--login) cp -r ${directory}/logged-in ${sys}/class/iscsi_host/host1;;`,
    `*--logout) rm -r ${sys}/class/iscsi_host/host1;;`,
    'esac',
  )
  program(
    `${bin}/tee`,
    record,
    // An apply is killed here that was told to be.
    `test ! -e ${directory}/kill || { kill -9 $PPID; exit; }`,
    'case "$*" in',
    `*/scan) mkdir -p ${lun}/block/${disk} ${sys}/block/${disk} ${sys}/dev/block; touch ${lun}/delete`,
    `  echo ${readDeviceNumber(device)} > ${sys}/block/${disk}/dev; ln -s ${lun} ${sys}/block/${disk}/device`,
    `  ln -s ../../block/${disk} ${sys}/dev/block/${readDeviceNumber(device)};;`,
    `*) rm -r ${sys}/block/${disk} ${sys}/dev/block/* ${lun};;`,
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

function nodeOf(directory: string, mode: 'Filesystem' | 'Block'): LiveNode {
  const node = new LiveNode(directory)
  node.context = { host: hostOf(directory), deviceWaitMs: 5000 }
  const name = `kubernetes.io/iscsi/${PORTAL}:${IQN}:1`
  node.node = {
    ...node.node,
    status: { ...node.node.status, volumesAttached: [{ name, devicePath: '' }], volumesInUse: [name] },
  }
  node.persistentVolume('pv', { iscsi: SOURCE, volumeMode: mode })
  node.pod(POD, 'a', [{ name: 'data', persistentVolumeClaim: { claimName: 'claim-pv' } }], {
    devices: mode === 'Block',
    securityContext: { fsGroup: 2000 },
  })
  return node
}

async function withDisk<T>(directory: string, type: string | undefined, work: () => Promise<T>): Promise<T> {
  const file = `${directory}/disk.img`
  sh('truncate', '-s', '64M', file)
  if (type !== undefined) sh(`mkfs.${type}`, '-qF', file)
  const device = sh('losetup', '-f', '--show', file)
  try {
    fabricate(directory, device)
    return await work()
  } finally {
    detachLoop(device)
  }
}

const globalDir = ({ root }: LiveNode) => `${root}/plugins/kubernetes.io/iscsi/iface-default/${LUN_NAME}`
const podDir = ({ root }: LiveNode) => `${root}/pods/${POD}/volumes/kubernetes.io~iscsi/pv`
const sessions = (directory: string) => readdirSync(`${directory}/sys/class/iscsi_host`)

/** What is left below the root directory and in sysfs when the pod has gone. */
async function afterwards(directory: string, node: LiveNode) {
  node.forget(POD)
  const gone = await node.apply()
  return {
    gone: gone.outcomes.map(({ kind, state, message }) => (state === 'done' ? `${kind} done` : message)),
    sessions: sessions(directory),
    mounts: node.mounted().length,
    left: (await node.plan()).operations.map(({ kind }) => kind),
  }
}

await runScenario({
  bothWays: (directory) =>
    withDisk(directory, 'ext4', async () => {
      const node = nodeOf(directory, 'Filesystem')
      const states = Object.values(statesOf(await node.apply()))
      writeFileSync(`${podDir(node)}/file`, 'data')
      return {
        states,
        group: sh('stat', '-c', '%g %a', podDir(node)),
        there: existsSync(`${globalDir(node)}/file`),
        after: (await node.plan()).operations,
        ...(await afterwards(directory, node)),
        log: readFileSync(`${directory}/log`, 'utf8')
          .replaceAll(directory, '')
          .replaceAll(/loop\d+/g, 'DISK')
          .trim()
          .split('\n'),
      }
    }),

  block: (directory) =>
    withDisk(directory, undefined, async () => {
      const node = nodeOf(directory, 'Block')
      const states = Object.values(statesOf(await node.apply()))
      const link = `${node.root}/pods/${POD}/volumeDevices/kubernetes.io~iscsi/pv`
      return {
        states,
        type: sh('stat', '-L', '-c', '%F', link),
        after: (await node.plan()).operations,
        ...(await afterwards(directory, node)),
      }
    }),

  unformatted: (directory) =>
    withDisk(directory, undefined, async () => {
      const node = nodeOf(directory, 'Filesystem')
      const states = Object.values(statesOf(await node.apply()))
      return {
        states,
        sessions: sessions(directory),
        exists: existsSync(globalDir(node)),
        pod: existsSync(podDir(node)),
      }
    }),

  /** Killed between the log-in and the mount. */
  killed: (directory) =>
    withDisk(directory, 'ext4', async () => {
      writeFileSync(`${directory}/kill`, '')
      const child = spawn(...thisProgram('applyOnce'))
      const signal = await new Promise((resolve) => child.on('exit', (_, name) => resolve(name)))
      sh('rm', `${directory}/kill`)
      const node = nodeOf(directory, 'Filesystem')
      const between = {
        sessions: sessions(directory),
        record: existsSync(`${globalDir(node)}/iscsi.json`),
        mounts: node.mounted().length,
      }
      const states = Object.values(statesOf(await node.apply()))
      const after = (await node.plan()).operations
      return { signal, between, states, after, ...(await afterwards(directory, node)) }
    }),

  /** The process that is killed. */
  async applyOnce(directory) {
    return statesOf(await nodeOf(directory, 'Filesystem').apply())
  },
})
