/** Who uses a disk: a mount, a map, a loop, a holder or an opener of it, its partitions or its multipath map (S9, S21, S25). */
import { errorMessage } from '../errors.ts'
import { describeProcess } from '../holders/describe-holders.ts'
import { undeletedRoot } from '../mountinfo/deleted.ts'
import type { MountInfo, MountTable } from '../mountinfo/mount-table.ts'
import type { BlockNode, IscsiLun } from './block-tree.ts'
import { pause } from './deadline.ts'
import type { Opener } from './device-openers.ts'
import { describeMount } from './expected-mounts.ts'
import { loopsOn } from './loops-on-disks.ts'
import { StepFailed } from './operation-error.ts'
import type { StepContext } from './step-context.ts'

/** It has every path of a map open, to test it, and lets go by itself. */
const PATH_CHECKER = 'multipathd'
const TRIES = 3
const BETWEEN_MS = 250

export interface DiskUser {
  /** The disk, or the address of the LUN, that was asked about: the user may be one of its partition or its map. */
  readonly disk: string
  /** In words. */
  readonly who: string
}

/** A disk, or what is on it, with the disk's name. */
export type OnDisk = BlockNode & { readonly on: string }

/**
 * Nobody where the list is empty. Asked again for a moment where only an opener stands in the way: udev and blkid have
 * a device open after every unmount.
 *
 * @param luns tapes and the like, of which there is no disk
 * @throws StepFailed UsersUnknown
 */
export async function usersOfDisks(
  disks: readonly string[],
  run: StepContext,
  luns: readonly IscsiLun[] = [],
): Promise<readonly DiskUser[]> {
  for (let tried = 1; ; tried++) {
    const { lasting, passing } = await lookAtDisks(disks, luns, run)
    if (lasting.length > 0 || passing.length === 0) return lasting
    if (tried === TRIES || run.signal?.aborted) return passing
    await pause(BETWEEN_MS, run.signal)
  }
}

async function lookAtDisks(
  disks: readonly string[],
  luns: readonly IscsiLun[],
  run: StepContext,
): Promise<{ lasting: DiskUser[]; passing: DiskUser[] }> {
  const { around } = run
  const nodes = withWhatIsOnThem(disks, run)
  // First: it may have to wait for an answer, and the others are looked for at once.
  const loops = await loopsOn(nodes, run)
  const lasting = [
    ...luns.flatMap(unknownDriver),
    ...nodes.flatMap((node) => heldBy(node, run)),
    ...mountsOf(around.table, nodes).map(([mount, { on }]) => ({ disk: on, who: describeMount(mount) })),
    ...around.others.flatMap(({ table, process, pid }) =>
      mountsOf(table, nodes).map(([mount, { on }]) => ({
        disk: on,
        who: `${describeMount(mount)}, in the namespace of ${describeProcess({ process, pid }, run.context.nameOf)}`,
      })),
    ),
    ...loops,
  ]
  if (lasting.length > 0) return { lasting, passing: [] }
  const passing = [...openersOf(nodes, luns, run), ...kernelUsers(nodes, run)]
  return { lasting, passing }
}

/** Which of these drivers' devices are in use only openers tell; of any other it is not known what it does. */
function unknownDriver({ address, driver }: IscsiLun): DiskUser[] {
  if (driver === undefined || ['st', 'ch', 'ses'].includes(driver)) return []
  return [{ disk: address, who: `driver ${driver}, of which no disk of ${address} is to be seen` }]
}

function openersOf(nodes: readonly OnDisk[], luns: readonly IscsiLun[], { around, host }: StepContext): DiskUser[] {
  const byDev = new Map<string, { on: string; what: string }>()
  for (const { dev, on, name, characters } of nodes) {
    for (const each of [dev, ...characters])
      byDev.set(each, { on, what: each === dev ? `/dev/${name}` : `${each} (${name})` })
  }
  for (const { address, characters } of luns) {
    for (const each of characters) byDev.set(each, { on: address, what: `${each} (${address})` })
  }
  let openers: readonly Opener[]
  try {
    openers = host.openersOf(new Set(byDev.keys()), around.table, around.others)
  } catch (error) {
    const what = [...new Set([...byDev.values()].map(({ on }) => on))].join(', ')
    throw new StepFailed('UsersUnknown', `who has ${what} open could not be found out: ${errorMessage(error)}`, {
      cause: error,
      hint: 'Run it as root of the host, with a /proc that shows every process; then plan again: the directory is kept.',
    })
  }
  return openers
    .filter(({ process }) => process !== PATH_CHECKER)
    .flatMap(({ process, pid, dev }) => {
      const found = byDev.get(dev)
      return found === undefined
        ? []
        : [{ disk: found.on, who: `${process} (pid ${pid}), which has ${found.what} open` }]
    })
}

/** The disks that are there, their partitions, and the multipath maps that they are paths of. */
function withWhatIsOnThem(disks: readonly string[], { host: { blockTree } }: StepContext): OnDisk[] {
  const found = new Map<string, OnDisk>()
  const add = (name: string, on: string): void => {
    if (found.has(name)) return
    const node = blockTree.node(name)
    if (node === undefined) return
    found.set(name, { ...node, on })
    for (const partition of node.partitions) add(partition, on)
    for (const holder of node.holders) if (blockTree.node(holder)?.isMultipath) add(holder, on)
  }
  for (const disk of disks) add(disk, disk)
  return [...found.values()]
}

/** Holders other than a multipath map: an LVM volume, an open LUKS mapping, an array. */
function heldBy({ name, holders, on }: OnDisk, { host }: StepContext): DiskUser[] {
  return holders
    .filter((holder) => host.blockTree.node(holder)?.isMultipath !== true)
    .map((holder) => ({ disk: on, who: `device ${holder}, which is made of ${name}` }))
}

/**
 * A superblock, or whoever has it exclusively; of a path of a multipath map that is the map, which is asked itself.
 * While the kernel is recovering a SCSI host an open would wait for it: then nothing is known, and none is opened.
 */
function kernelUsers(nodes: readonly OnDisk[], { host }: StepContext): DiskUser[] {
  const recovering = nodes.find(({ isRecovering }) => isRecovering)
  if (recovering !== undefined)
    return [{ disk: recovering.on, who: `the kernel, which is recovering the SCSI host of ${recovering.name}` }]
  return nodes
    .filter(({ holders }) => holders.length === 0)
    .flatMap(({ dev, on }) => host.deviceUse(dev).users.map((who) => ({ disk: on, who })))
}

/** File systems on it, and binds of its device file: block maps of the kubelet (P98). */
function mountsOf(table: MountTable, nodes: readonly OnDisk[]): [MountInfo, OnDisk][] {
  const byFile = new Map(nodes.map((node) => [`/${node.name}`, node]))
  const onDevice = nodes.flatMap((node) => table.ofDevice(node.dev).map((mount): [MountInfo, OnDisk] => [mount, node]))
  const byName = table.under('/').flatMap((mount): [MountInfo, OnDisk][] => {
    const node = byFile.get(deviceFileOf(mount) ?? '')
    return node === undefined ? [] : [[mount, node]]
  })
  return [...onDevice, ...byName]
}

/** Relative to /dev. A file system of several devices (btrfs) has a number of its own, and one of them as its source. */
function deviceFileOf({ dev, fsType, root, source }: MountInfo): string | undefined {
  if (!dev.startsWith('0:')) return undefined
  if (fsType === 'devtmpfs') return undeletedRoot(root)
  return source.startsWith('/dev/') ? source.slice('/dev'.length) : undefined
}
