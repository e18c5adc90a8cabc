/** A disk with two partitions, the first of which is a volume, and everybody who may use it beside the volume's pod. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import type { ApplyContext, CsiNode } from '../../src/core/apply/operation/ports.ts'
import type { VolumeAttachment } from '../../src/core/model/objects.ts'
import type { Operation, VolumeRef } from '../../src/core/plan/plan.ts'
import { bareOperation, statesOf } from '../helpers/apply-plan.ts'
import { detachLoop } from '../helpers/detach-loops.ts'
import { noSystemCalls } from '../helpers/namespace.ts'
import { nodeProgram } from '../helpers/programs.ts'
import { runScenario, sh } from '../helpers/scenario.ts'
import { UNASKED_CLUSTER, UNASKED_DRIVER } from '../helpers/unasked.ts'
import { until } from '../helpers/until.ts'
import { apply, expectNow, makeDir, podUid } from './workers/real-node.ts'

const UNIQUE = 'kubernetes.io/csi/disk.test^vol-1'
const VOLUME: VolumeRef = {
  ...{ name: 'pv', plugin: 'kubernetes.io/csi', driver: 'disk.test', handle: 'vol-1' },
  ...{ uniqueName: UNIQUE, mode: 'Filesystem' },
}

interface Disk {
  readonly directory: string
  readonly whole: string
  readonly volume: string
  readonly other: string
}

const hasBtrfs = (): boolean => /\tbtrfs$/m.test(readFileSync('/proc/filesystems', 'utf8'))

/** Ends the use. */
type End = () => unknown

/** Two primary partitions; no program that every machine has writes such a table without asking. */
function partitionTable(file: string): void {
  const table = Buffer.alloc(512)
  for (const [index, start] of [2048, 34_816].entries()) {
    const at = 446 + 16 * index
    table[at + 4] = 0x83
    table.writeUInt32LE(start, at + 8)
    table.writeUInt32LE(32_768, at + 12)
  }
  table.writeUInt16LE(0xaa55, 510)
  const fd = openSync(file, 'r+')
  writeSync(fd, table, 0, 512, 0)
  closeSync(fd)
}

async function withDisk<T>(directory: string, work: (disk: Disk) => Promise<T>): Promise<T> {
  const file = `${directory}/disk.img`
  writeFileSync(file, '')
  sh('truncate', '-s', '34M', file)
  partitionTable(file)
  const whole = sh('losetup', '--find', '--show', '--partscan', file)
  try {
    const disk = { directory, whole, volume: `${whole}p1`, other: `${whole}p2` }
    // Of a kernel that reads no such table partx(8) reads it.
    if (!existsSync(`/sys/block/${whole.slice(5)}/${disk.other.slice(5)}`)) sh('partx', '--add', whole)
    if (!(await until(() => existsSync(disk.other)))) throw new Error(`${whole} has no partitions`)
    for (const part of [disk.volume, disk.other]) sh('mkfs.ext4', '-q', '-F', part)
    return await work(disk)
  } finally {
    sh('partx', '--delete', whole)
    detachLoop(whole)
  }
}

async function ended(child: ChildProcess): Promise<void> {
  const exit = new Promise((resolve) => child.on('exit', resolve))
  if (child.kill('SIGKILL')) await exit
}

/** A shell that has done what it is told, and stays. */
async function shell(script: string, ...prefix: readonly string[]): Promise<End> {
  const [program = '', ...args] = [...prefix, 'sh', '-c', `${script}; echo ready; exec sleep 600`]
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise((resolve, reject) => {
    child.stdout.on('data', resolve)
    child.on('exit', () => reject(new Error(`${script} ended`)))
  })
  return () => ended(child)
}

const inNamespaceOfItsOwn = ['unshare', '-m', '--propagation', 'private']

const USES: Readonly<Record<string, (disk: Disk) => End | Promise<End>>> = {
  nobody: () => () => {},
  'its device file open for reading': ({ volume }) => shell(`exec 9< ${volume}`),
  'its device file open for writing': ({ volume }) => shell(`exec 9<> ${volume}`),
  'the disk open': ({ whole }) => shell(`exec 9<> ${whole}`),
  'the other partition open': ({ other }) => shell(`exec 9< ${other}`),
  'its number open in a namespace, under a name of its own': ({ directory, volume }) => {
    const at = makeDir(`${directory}/dev-${Math.random()}`)
    const number = readFileSync(`/sys/class/block/${volume.slice(5)}/dev`, 'utf8')
      .trim()
      .replace(':', ' ')
    return shell(
      `mount -t tmpfs tmpfs ${at} && mknod ${at}/xvda b ${number} && exec 9<> ${at}/xvda`,
      ...inNamespaceOfItsOwn,
    )
  },
  'the other partition mounted': ({ directory, other }) => {
    const at = makeDir(`${directory}/backup`)
    sh('mount', other, at)
    return () => sh('umount', at)
  },
  'the other partition mounted in a namespace': ({ directory, other }) =>
    shell(`mount ${other} ${makeDir(`${directory}/away`)}`, ...inNamespaceOfItsOwn),
  'the other partition detached lazily': async ({ directory, other }) => {
    const at = makeDir(`${directory}/lazy`)
    sh('mount', other, at)
    const end = await shell(`exec 9> ${at}/file`)
    sh('umount', '-l', at)
    return end
  },
  'a loop device on the other partition': ({ other }) => {
    const loop = sh('losetup', '--find', '--show', other)
    return () => detachLoop(loop)
  },
  ...(noSystemCalls === undefined && {
    'its memory mapped': async ({ whole, volume }) => {
      const program = nodeProgram(new URL('./workers/mapper.ts', import.meta.url), [volume], ['--experimental-ffi'])
      const child = spawn(...program, { stdio: ['ignore', 'pipe', 'inherit'] })
      await new Promise((resolve, reject) => {
        child.stdout.on('data', resolve)
        child.on('exit', () => reject(new Error(`${whole} could not be mapped`)))
      })
      return () => ended(child)
    },
  }),
  // Marks the place of the file, and has nothing open.
  'only the place of its device file': ({ volume }) => {
    const fd = openSync(volume, 0o10000000)
    return () => closeSync(fd)
  },
}

interface Taking {
  /** What is made before anybody uses anything. */
  readonly prepare: (disk: Disk, root: string) => Operation[]
  /** When the use begins: in the driver's call, or before the apply. */
  readonly during?: keyof CsiNode | undefined
  /** Which outcome is asked for. */
  readonly last: string
}

const global = (root: string): string => makeDir(`${root}/plugins/kubernetes.io/csi/disk.test/abc/globalmount`)

function deviceOperation(id: string, given: Partial<Operation>): Operation {
  const { pod: _, ...podless } = bareOperation(id, '', given.steps ?? [], { volume: VOLUME, ...given })
  return podless
}

function stage({ volume }: Disk, root: string): Operation {
  const at = global(root)
  sh('mount', volume, at)
  return deviceOperation('unstage', {
    kind: 'UnmountDevice',
    steps: [{ op: 'NodeUnstageVolume', target: at }],
    expects: expectNow(at),
  })
}

function detach(after: string): Operation {
  return deviceOperation('detach', {
    kind: 'DetachVolume',
    after: [after],
    paths: [],
    steps: [{ op: 'deleteVolumeAttachment', target: 'volumeattachments/csi-abc' }],
    attachment: { name: 'csi-abc', uid: 'va-1', resourceVersion: '5' },
  })
}

function map({ volume }: Disk, root: string): Operation {
  const base = `${root}/plugins/kubernetes.io/csi/volumeDevices`
  const [mapFile, publish] = [`${base}/pv/dev/${podUid(1)}`, `${base}/publish/pv/${podUid(1)}`]
  makeDir(`${base}/pv/dev`)
  makeDir(`${base}/publish/pv`)
  for (const path of [mapFile, publish]) {
    writeFileSync(path, '')
    sh('mount', '--bind', volume, path)
  }
  return bareOperation(
    'unmap',
    podUid(1),
    [
      { op: 'umount', target: mapFile },
      { op: 'unlink', target: mapFile },
      { op: 'NodeUnpublishVolume', target: publish },
    ],
    { kind: 'UnmapVolume', volume: { ...VOLUME, mode: 'Block' }, expects: expectNow(mapFile, publish) },
  )
}

function unmapDevice(root: string): Operation {
  const staging = makeDir(`${root}/plugins/kubernetes.io/csi/volumeDevices/staging/pv`)
  return deviceOperation('unmapDevice', {
    kind: 'UnmapDevice',
    volume: { ...VOLUME, mode: 'Block' },
    after: ['unmap'],
    steps: [
      { op: 'NodeUnstageVolume', target: staging },
      { op: 'rmdir', target: staging },
    ],
  })
}

const TAKINGS: Readonly<Record<string, Taking>> = {
  UnmountDevice: { prepare: (disk, root) => [stage(disk, root)], last: 'unstage' },
  DetachVolume: {
    prepare: (disk, root) => [stage(disk, root), detach('unstage')],
    during: 'nodeUnstageVolume',
    last: 'detach',
  },
  UnmapVolume: { prepare: (disk, root) => [map(disk, root)], last: 'unmap' },
  UnmapDevice: {
    prepare: (disk, root) => [map(disk, root), unmapDevice(root)],
    during: 'nodeUnpublishVolume',
    last: 'unmapDevice',
  },
}

const attachment: VolumeAttachment = {
  metadata: { name: 'csi-abc', uid: 'va-1', resourceVersion: '5' },
  spec: { attacher: 'disk.test', nodeName: 'node-1', source: { persistentVolumeName: 'pv' } },
  status: { attached: true },
}

async function take(disk: Disk, { prepare, during, last }: Taking, use: keyof typeof USES): Promise<string> {
  const root = makeDir(`${disk.directory}/kubelet-${Math.random()}`)
  return outcomeOf(root, prepare(disk, root), { last, during, use: () => USES[use]?.(disk) })
}

interface Course {
  readonly last: string
  readonly during: Taking['during']
  readonly use: () => End | Promise<End> | undefined
  /** It begins before the driver unmounts, not after. */
  readonly whileMounted?: boolean
}

async function outcomeOf(
  root: string,
  operations: readonly Operation[],
  { last, during, use, whileMounted = false }: Course,
): Promise<string> {
  const ends: End[] = []
  const begin = async (): Promise<void> => void ends.push((await use()) ?? (() => {}))
  const answer = (method: keyof CsiNode) => async (request: object) => {
    const [target = ''] = Object.values(request).filter((value) => String(value).startsWith('/'))
    if (method === during && whileMounted) await begin()
    if (readFileSync('/proc/self/mountinfo', 'utf8').includes(` ${target} `)) sh('umount', target)
    if (method === 'nodeUnpublishVolume') sh('rm', '-f', target)
    if (method === during && !whileMounted) await begin()
  }
  const driver: CsiNode = {
    ...UNASKED_DRIVER,
    nodeUnstageVolume: answer('nodeUnstageVolume'),
    nodeUnpublishVolume: answer('nodeUnpublishVolume'),
  }
  let present: VolumeAttachment | undefined = attachment
  const context: Partial<ApplyContext> = {
    csi: () => driver,
    detachWaitMs: 0,
    cluster: {
      ...UNASKED_CLUSTER,
      getVolumeAttachment: async () => present,
      getNode: async () => ({ metadata: { name: 'node-1', uid: 'n' } }),
      listNodePods: async () => [],
      deleteVolumeAttachment: async () => {
        present = undefined
      },
    },
  }
  if (during === undefined) await begin()
  try {
    const result = await apply(root, operations, context)
    const outcome = result.outcomes.find(({ id }) => id === last)
    return outcome?.state === 'done' ? 'done' : `${statesOf(result)[last]}: ${outcome?.message}`
  } finally {
    for (const end of ends) await end()
    for (const path of readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .map((line) => line.split(' ')[4] ?? '')) {
      if (path.startsWith(`${root}/`)) sh('umount', path)
    }
  }
}

/** Stages by a mount(8) of one's own, and detaches; the use begins in the driver's call. */
async function detachOf(
  directory: string,
  stageBy: (at: string) => void,
  use: (at: string) => End | Promise<End> | undefined,
  whileMounted = false,
): Promise<string> {
  const root = makeDir(`${directory}/kubelet-${Math.random()}`)
  const at = global(root)
  stageBy(at)
  const unstage = deviceOperation('unstage', {
    kind: 'UnmountDevice',
    steps: [{ op: 'NodeUnstageVolume', target: at }],
    expects: expectNow(at),
  })
  const found = await outcomeOf(root, [unstage, detach('unstage')], {
    ...{ last: 'detach', during: 'nodeUnstageVolume' },
    use: () => use(at),
    whileMounted,
  })
  return found.replaceAll(directory, '')
}

/** Mounted once more, with a file open, and detached lazily. */
async function lazily(directory: string, mount: (at: string) => void): Promise<End> {
  const at = makeDir(`${directory}/lazy-${Math.random()}`)
  mount(at)
  const end = await shell(`exec 9> ${at}/file`)
  sh('umount', '-l', at)
  return end
}

/** A file system with a device number of its own and a block device, made by mkfs.btrfs --mixed. */
async function withBtrfs<T>(directory: string, work: (device: string) => Promise<T>): Promise<T> {
  const file = `${directory}/btrfs.img`
  writeFileSync(file, brotliDecompressSync(readFileSync(process.env.BTRFS_IMAGE ?? '')))
  const device = sh('losetup', '--find', '--show', file)
  try {
    return await work(device)
  } finally {
    detachLoop(device)
  }
}

/** A directory of a file system is the volume. */
const DIRECTORY_USES: Readonly<Record<string, (volume: string, directory: string) => End | Promise<End>>> = {
  nobody: () => () => {},
  'another directory of the file system open': (volume) => shell(`exec 9> ${volume}/../other/file`),
  'another directory of it mounted': (volume, directory) => {
    const at = makeDir(`${directory}/second`)
    sh('mount', '--bind', `${volume}/../other`, at)
    return () => sh('umount', at)
  },
  'a file of it open': (volume) => shell(`exec 9> ${volume}/file`),
  'a process in it': (volume) => shell(`cd ${volume}`),
  'a directory of it mounted': (volume, directory) => {
    const at = makeDir(`${directory}/second`)
    sh('mount', '--bind', makeDir(`${volume}/below`), at)
    return () => sh('umount', at)
  },
  'it mounted in a namespace': (volume, directory) =>
    shell(`mount --bind ${volume} ${makeDir(`${directory}/away`)}`, ...inNamespaceOfItsOwn),
  'a loop device on a file of it': (volume) => {
    sh('truncate', '-s', '1M', `${volume}/image`)
    const loop = sh('losetup', '--find', '--show', `${volume}/image`)
    return () => detachLoop(loop)
  },
}

async function directoryUses(directory: string, data: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  makeDir(`${data}/other`)
  for (const [name, use] of Object.entries(DIRECTORY_USES)) {
    const volume = makeDir(`${data}/vol-1`)
    found[name] = await detachOf(
      directory,
      (at) => sh('mount', '--bind', volume, at),
      () => use(volume, directory),
    )
  }
  return found
}

await runScenario({
  /** @returns how a detach ended beside each use of a directory of the node's own file system, and of one kept elsewhere */
  async directories(directory) {
    const own = await directoryUses(directory, makeDir(`${directory}/data`))
    const kept = await withDisk(directory, async ({ volume }) => {
      const data = makeDir(`${directory}/kept`)
      sh('mount', volume, data)
      try {
        return await directoryUses(directory, data)
      } finally {
        sh('umount', data)
      }
    })
    /** The volume's own disk, of which a directory alone was mounted, and which somebody has mounted whole since. */
    const since = await withDisk(directory, async ({ volume }) => {
      const [first, data] = [makeDir(`${directory}/first`), makeDir(`${directory}/since`)]
      sh('mount', volume, first)
      makeDir(`${first}/vol-1`)
      const stageBy = (at: string): void => {
        sh('mount', '--bind', `${first}/vol-1`, at)
        sh('umount', first)
        sh('mount', volume, data)
      }
      try {
        return await detachOf(directory, stageBy, () => undefined)
      } finally {
        sh('umount', data)
      }
    })
    return { own, kept, since }
  },

  /** @returns how a detach ended with and without a file that is open in what was detached lazily */
  async lazily(directory) {
    const tmpfs = (at: string): void => void sh('mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', at)
    const inMemory = {
      free: await detachOf(directory, tmpfs, () => undefined),
      // What is to be mounted once more has to be there still.
      held: await detachOf(
        directory,
        tmpfs,
        (global) => lazily(directory, (at) => sh('mount', '--bind', global, at)),
        true,
      ),
    }
    const btrfs = hasBtrfs()
      ? await withBtrfs(directory, async (device) => {
          const stageBy = (at: string): void => void sh('mount', device, at)
          const again = (at: string): void => void sh('mount', device, at)
          return {
            free: await detachOf(directory, stageBy, () => undefined),
            held: await detachOf(directory, stageBy, () => lazily(directory, again)),
            mounted: await detachOf(directory, stageBy, () => {
              const at = makeDir(`${directory}/btrfs`)
              again(at)
              return () => sh('umount', at)
            }),
            open: await detachOf(directory, stageBy, () => shell(`exec 9< ${device}`)),
          }
        })
      : undefined
    return { inMemory, btrfs }
  },

  /** @returns for every use and operation how it ended */
  everybody: (directory, only) =>
    withDisk(directory, async (disk) => {
      const found: Record<string, Record<string, string>> = {}
      for (const use of Object.keys(USES).filter((each) => only.length === 0 || only.includes(each))) {
        const row: Record<string, string> = {}
        for (const [name, taking] of Object.entries(TAKINGS)) {
          row[name] = (await take(disk, taking, use)).replaceAll(disk.whole, 'DISK').replaceAll(directory, '')
        }
        found[use] = row
      }
      return found
    }),
})
