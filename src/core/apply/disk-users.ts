/** Who uses a disk: a mount, a map, a loop, a holder or an opener of it, its partitions or its multipath map (S9, S21, S25). */
import type { MountInfo, MountTable } from '../mountinfo/mount-table.ts'
import type { BlockNode } from './block-tree.ts'
import { pause } from './deadline.ts'
import { describeMount } from './expected-mounts.ts'
import type { StepContext } from './step-context.ts'

/** It has every path of a map open, to test it, and lets go by itself. */
const PATH_CHECKER = 'multipathd'
const TRIES = 3
const BETWEEN_MS = 250

export interface DiskUse {
  /** In words; empty: nobody. */
  readonly users: readonly string[]
  /** Nothing but processes that have it open: udev and blkid do, for a moment, after every unmount. */
  readonly mayPass: boolean
}

/** The same, asked again for a moment where only an opener stands in the way. */
export async function usersOfDisks(disks: readonly string[], run: StepContext): Promise<readonly string[]> {
  for (let tried = 1; ; tried++) {
    const { users, mayPass } = lookAtDisks(disks, run)
    if (users.length === 0 || !mayPass || tried === TRIES || run.signal?.aborted) return users
    await pause(BETWEEN_MS, run.signal)
  }
}

function lookAtDisks(disks: readonly string[], run: StepContext): DiskUse {
  const { around, host } = run
  const nodes = withWhatIsOnThem(disks, run)
  const devs = new Map(nodes.map((node) => [node.dev, node]))
  const lasting = [
    ...nodes.flatMap((node) => heldBy(node, run)),
    ...mountsOf(around.table, devs).map(describeMount),
    ...around.others.flatMap(({ table, process, pid }) =>
      mountsOf(table, devs).map((mount) => `${describeMount(mount)}, in the namespace of ${process} (pid ${pid})`),
    ),
    ...loopsOn(nodes, run),
  ]
  const openers = host
    .openersOf(new Set(devs.keys()), around.table, around.others)
    .filter(({ process }) => process !== PATH_CHECKER)
    .map(({ process, pid, dev }) => `${process} (pid ${pid}), which has /dev/${devs.get(dev)?.name ?? dev} open`)
  const exclusively = nodes.flatMap((node) => kernelUsers(node, run))
  return { users: [...new Set([...lasting, ...openers, ...exclusively])], mayPass: lasting.length === 0 }
}

/** The disks that are there, their partitions, and the multipath maps that they are paths of. */
function withWhatIsOnThem(disks: readonly string[], { host: { blockTree } }: StepContext): BlockNode[] {
  const found = new Map<string, BlockNode>()
  const add = (name: string): void => {
    if (found.has(name)) return
    const node = blockTree.node(name)
    if (node === undefined) return
    found.set(name, node)
    for (const partition of node.partitions) add(partition)
    for (const holder of node.holders) if (blockTree.node(holder)?.isMultipath) add(holder)
  }
  for (const disk of disks) add(disk)
  return [...found.values()]
}

/** Holders other than a multipath map: an LVM volume, an open LUKS mapping, an array. */
function heldBy({ name, holders }: BlockNode, { host }: StepContext): string[] {
  return holders
    .filter((holder) => host.blockTree.node(holder)?.isMultipath !== true)
    .map((holder) => `device ${holder}, which is made of ${name}`)
}

/** A superblock, or whoever has it exclusively; of a path of a multipath map that is the map, which is asked itself. */
function kernelUsers({ dev, holders }: BlockNode, { host }: StepContext): string[] {
  if (holders.length > 0) return []
  return [...host.deviceUse(dev).users]
}

/** File systems on it, and binds of its device file: block maps of the kubelet (P98). */
function mountsOf(table: MountTable, devs: ReadonlyMap<string, BlockNode>): MountInfo[] {
  const files = new Set([...devs.values()].map(({ name }) => `/${name}`))
  return [
    ...[...devs.keys()].flatMap((dev) => table.ofDevice(dev)),
    // A file system of several devices (btrfs) has a number of its own, and names one of them as its source.
    ...table
      .under('/')
      .filter(
        ({ root, fsType, source, dev }) =>
          (fsType === 'devtmpfs' && files.has(root.replace(/\/\/deleted$/, ''))) ||
          (dev.startsWith('0:') && source.startsWith('/dev/') && files.has(source.slice('/dev'.length))),
      ),
  ]
}

function loopsOn(nodes: readonly BlockNode[], { host, around, operation }: StepContext): string[] {
  const files = new Set(nodes.map(({ name }) => `/dev/${name}`))
  const devs = new Set(nodes.map(({ dev }) => dev))
  return host
    .loops()
    .filter(({ device }) => !operation.steps.some(({ op, target }) => op === 'losetup -d' && target === device))
    .filter(({ backingFile }) => {
      const file = backingFile.replace(/ \(deleted\)$/, '')
      if (files.has(file)) return true
      const bound = around.table.at(file).at(-1)
      // Only a bind of a device file is looked at: nothing else that is mounted on a file can be a device.
      return bound?.fsType === 'devtmpfs' && devs.has(host.deviceNumber(file) ?? '')
    })
    .map(({ device, backingFile }) => `${device}, backed by ${backingFile}`)
}
