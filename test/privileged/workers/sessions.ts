/** iSCSI sessions and flexVolume drivers with real mounts, real processes and programs that stand in for open-iscsi. */
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { readDeviceNumber } from '../../../src/core/block/device-use.ts'
import { SysfsBlockTree } from '../../../src/core/block/sysfs-block-tree.ts'
import { askProcesses } from '../../../src/core/holders/ask-processes.ts'
import type { Host } from '../../../src/core/host/host.ts'
import { linuxHost } from '../../../src/core/host/linux-host.ts'
import { readTree } from '../../../src/core/node/tree/read-tree.ts'
import type { Operation } from '../../../src/core/plan/plan.ts'
import { readOtherNamespaces } from '../../../src/core/processes/mount-namespaces.ts'
import { planNode } from '../../../src/core/reconcile/plan-node.ts'
import { statesOf } from '../../helpers/apply-plan.ts'
import { detachLoop } from '../../helpers/detach-loops.ts'
import { node } from '../../helpers/node-builder.ts'
import { planOptions } from '../../helpers/plan-options.ts'
import { PROCESS_READER } from '../../helpers/process-reader/command.ts'
import { thisProgram } from '../../helpers/programs.ts'
import { runScenario, sh } from '../../helpers/scenario.ts'
import { until } from '../../helpers/until.ts'
import { apply, expectNow, makeDir, operation, readMounts, tmpfs, volumeDir } from './real-node.ts'

const PORTAL = 'san-1:3260'
const IQN = 'iqn.2003-01.test:disk'
const NAME = `${PORTAL}-${IQN}-lun-1`

function program(path: string, ...lines: readonly string[]): string {
  makeDir(dirname(path))
  writeFileSync(path, `#!/bin/sh\n${lines.join('\n')}\n`)
  chmodSync(path, 0o755)
  return path
}

function text(path: string, content: string): void {
  makeDir(dirname(path))
  writeFileSync(path, `${content}\n`)
}

/** One session with one LUN, whose disk bears the number of a real loop device. */
function fabricateSys(sys: string, dev: string): void {
  const session = `${sys}/class/iscsi_host/host1/device/session1`
  text(`${session}/iscsi_session/session1/targetname`, IQN)
  const connection = `${session}/connection1:0/iscsi_connection/connection1:0`
  text(`${connection}/persistent_address`, 'san-1')
  text(`${connection}/persistent_port`, '3260')
  makeDir(`${session}/target1:0:0/1:0:0:1/block/sdb`)
  text(`${sys}/block/sdb/dev`, dev)
  symlinkSync(`${session}/target1:0:0/1:0:0:1`, `${sys}/block/sdb/device`)
  text(`${sys}/block/sdb/device/delete`, '')
  makeDir(`${sys}/dev/block`)
  symlinkSync('../../block/sdb', `${sys}/dev/block/${dev}`)
}

/** Record their arguments, and do to the fabricated sysfs what they would do to the kernel's. */
function standIns(bin: string, sys: string, log: string): void {
  const record = `echo "$(basename "$0") $*" >> ${log}`
  // The first one that is run: an apply is killed there that was told to be.
  program(`${bin}/blockdev`, record, `test ! -e ${bin}/kill || kill -9 $PPID`)
  program(
    `${bin}/tee`,
    record,
    'cat',
    `rm -r ${sys}/block/sdb ${sys}/dev/block/* ${sys}/class/iscsi_host/host1/device/session1/target*`,
  )
  program(`${bin}/iscsiadm`, record, `case "$*" in *--logout) rm -r ${sys}/class/iscsi_host/host1;; esac`)
}

function hostOf(directory: string): Host {
  return {
    ...linuxHost,
    blockTree: new SysfsBlockTree(`${directory}/sys`, `${directory}/dev`),
    requireCommand: (name) => linuxHost.requireCommand(`${directory}/bin/${name}`),
    // What is behind a loop device the real program says.
    run: (name, args, deadlineMs, input) =>
      linuxHost.run(name === 'losetup' ? name : `${directory}/bin/${name}`, args, deadlineMs, input),
  }
}

/** What a plan of this root directory has to do on devices. */
async function planned(root: string): Promise<readonly Operation[]> {
  const mounts = readMounts()
  const { snapshot } = node().build()
  const tree = await readTree({ rootDir: root, mounts, attributes: 'all' })
  const plan = planNode({ snapshot: { ...snapshot, rootDir: root, tree }, mounts }, planOptions())
  return plan.operations.filter(({ kind }) => kind === 'UnmountDevice')
}

await runScenario({
  /** A process that has a device open without O_EXCL, under the usual name, and one in a container's own /dev. */
  async openers(directory) {
    const file = `${directory}/disk.img`
    sh('truncate', '-s', '1M', file)
    const device = sh('losetup', '-f', '--show', file)
    const dev = readDeviceNumber(device) ?? ''
    const [major = '', minor = ''] = dev.split(':')
    const usual = spawn('sh', ['-c', `exec sleep 60 < ${device}`], { stdio: 'ignore' })
    const own = `mount -t tmpfs tmpfs ${makeDir(`${directory}/c`)} && mknod ${directory}/c/xvda b ${major} ${minor} && exec sleep 60 < ${directory}/c/xvda`
    const contained = spawn('unshare', ['-m', 'sh', '-c', own], { stdio: ['ignore', 'ignore', 'inherit'] })
    const reader = { command: PROCESS_READER, deadlineMs: 30_000 }
    const look = async (devices = new Set([dev])) =>
      (await askProcesses({ table: readMounts(), others: readOtherNamespaces(true), devices }, reader)).openers(devices)
    try {
      const found = await until(async () => (await look()).length === 2)
      const ours = (await look()).map(({ pid }) => pid === usual.pid || pid === contained.pid)
      return { found, ours, others: (await look(new Set(['7:9999']))).length }
    } finally {
      for (const child of [usual, contained]) await ended(child)
      detachLoop(device)
    }
  },

  /** Killed between the unmount and the log-out: the record lies open then, and the next apply finishes. */
  async killed(directory) {
    const root = `${directory}/kubelet`
    makeDir(`${root}/pods`)
    const target = makeDir(`${root}/plugins/kubernetes.io/iscsi/iface-default/${NAME}`)
    writeFileSync(
      `${target}/iscsi.json`,
      JSON.stringify({ VolName: 'pv', Portals: [PORTAL], Iqn: IQN, Lun: '1', Iface: 'default', InitiatorName: '' }),
    )
    const file = `${directory}/disk.img`
    sh('truncate', '-s', '16M', file)
    sh('mkfs.ext4', '-q', '-F', file)
    const device = sh('losetup', '-f', '--show', file)
    try {
      fabricateSys(`${directory}/sys`, readDeviceNumber(device) ?? '')
      standIns(`${directory}/bin`, `${directory}/sys`, `${directory}/log`)
      sh('mount', device, target)
      const steps = (operations: readonly Operation[]) => operations.flatMap((each) => each.steps.map(({ op }) => op))
      const first = steps(await planned(root))
      writeFileSync(`${directory}/bin/kill`, '')
      const child = spawn(...thisProgram('applyOnce'))
      const signal = await new Promise((resolve) => child.on('exit', (_, name) => resolve(name)))
      sh('rm', `${directory}/bin/kill`)
      const between = { mounted: readMounts().at(target).length, record: existsSync(`${target}/iscsi.json`) }
      const again = await planned(root)
      const result = await apply(root, again, { host: hostOf(directory) })
      return {
        first,
        signal,
        between,
        second: steps(again),
        states: Object.values(statesOf(result)),
        exists: existsSync(target),
        log: readFileSync(`${directory}/log`, 'utf8').replaceAll(directory, '').trim().split('\n'),
        left: (await planned(root)).length,
      }
    } finally {
      detachLoop(device)
    }
  },

  /** The process that is killed. */
  async applyOnce(directory) {
    const root = `${directory}/kubelet`
    return statesOf(await apply(root, await planned(root), { host: hostOf(directory) }))
  },

  /** Drivers that are real programs: one that unmounts, one that cannot, one that prints something else. */
  async flex(directory) {
    const root = makeDir(`${directory}/kubelet`)
    const drivers = {
      good: program(
        `${directory}/exec/good`,
        `echo "$*" >> ${directory}/log`,
        'umount "$2" && rmdir "$2"',
        'echo \'{"status":"Success"}\'',
      ),
      unable: program(`${directory}/exec/unable`, 'echo \'{"status":"Not supported"}\'', 'exit 1'),
      garbage: program(`${directory}/exec/garbage`, 'echo Usage; exit 3'),
      absent: `${directory}/exec/absent`,
    }
    const operations = Object.entries(drivers).map(([name, detail], index) => {
      const dir = tmpfs(volumeDir(root, index, 'f', `v~${name}`))
      const steps = [
        { op: 'flexUnmount', target: dir, detail },
        { op: 'rmdir', target: dir },
      ] as const
      const volume = { name: 'f', plugin: `v/${name}`, mode: 'Filesystem' } as const
      return operation(name, index, steps, { volume, expects: expectNow(dir) })
    })
    const result = await apply(root, operations)
    return {
      states: statesOf(result),
      said: result.outcomes
        .find(({ id }) => id === 'garbage')
        ?.message.split(': ')
        .at(-1),
      left: readMounts().under(root).length,
      log: readFileSync(`${directory}/log`, 'utf8').trim() === `unmount ${volumeDir(root, 0, 'f', 'v~good')}`,
    }
  },
})

async function ended(child: ReturnType<typeof spawn>): Promise<void> {
  const exit = new Promise((resolve) => child.on('exit', resolve))
  if (child.kill('SIGKILL')) await exit
}
