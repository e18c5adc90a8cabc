/** Who uses a disk: a mount, a map, a loop, a holder or an opener of it, and of whatever is on it (S9, S21, S25). */

import type { BlockNode, BlockTree, IscsiLun } from '../../block/block-tree.ts'
import type { Opener } from '../../block/device-openers.ts'
import { SOMEBODY } from '../../block/device-use.ts'
import type { OnDisk } from '../../block/whole-disk.ts'
import { errorMessage } from '../../errors/errors.ts'
import { StepFailed } from '../../errors/operation-error.ts'
import { describeProcess } from '../../holders/describe-holders.ts'
import { undeletedRoot } from '../../mountinfo/deleted.ts'
import type { MountInfo, MountTable } from '../../mountinfo/mount-table.ts'
import { pause } from '../../processes/deadline.ts'
import { describeMount } from '../operation/expected-mounts.ts'
import type { StepContext } from '../operation/step-context.ts'
import type { DiskUser } from './disk-user.ts'
import { type LoopQuestion, loopsOn } from './loops-on-disks.ts'
import { mappersOf } from './mapped-devices.ts'

/** It has every path of a map open, to test it, and lets go by itself. */
const PATH_CHECKER = 'multipathd'
const TRIES = 3
const MOST_TRIES = 10
export const BETWEEN_MS = 250

export interface DiskUsers {
  readonly lasting: readonly DiskUser[]
  /** Openers alone, which may be gone in a moment: udev and blkid have a device open after every unmount. */
  readonly passing: readonly DiskUser[]
}

export interface DiskQuestion {
  readonly nodes: readonly OnDisk[]
  /** Tapes and the like, of which there is no disk. */
  readonly luns?: readonly IscsiLun[]
  /** A device that is made of one of these, and whose being there is no use. */
  readonly isNoUse: (holder: BlockNode) => boolean
  /** Default: none. @param pid a process of the other namespace whose table it is in; absent: ours */
  readonly isOwnMount?: (mount: MountInfo, pid?: number) => boolean
  /** Default: none. */
  readonly isOwnOpener?: (opener: Opener, node: OnDisk | undefined) => boolean
  /** Is the kernel to be asked for the device alone, which fails as long as anything has it (S21); default: yes. */
  readonly isToBeFree?: (node: OnDisk) => boolean
  readonly loops?: LoopQuestion
  /** Is what processes have mapped asked as well, which takes a child; default: no. */
  readonly withMaps?: boolean
}

/**
 * Nobody where the list is empty. Asked again for a moment where only an opener stands in the way.
 *
 * @param luns tapes and the like, of which there is no disk
 * @throws StepFailed UsersUnknown
 */
export async function usersOfDisks(
  disks: readonly string[],
  run: StepContext,
  luns: readonly IscsiLun[] = [],
): Promise<readonly DiskUser[]> {
  const isNoUse = ({ isMultipath }: BlockNode): boolean => isMultipath
  return usersOf(() => ({ nodes: withWhatIsOnThem(disks, run), luns, isNoUse }), run)
}

/** The same of any devices. @param question asked anew each time @throws StepFailed UsersUnknown */
export async function usersOf(question: () => DiskQuestion, run: StepContext): Promise<readonly DiskUser[]> {
  const patience = new Patience()
  for (;;) {
    const { lasting, passing } = await lookAtDisks(question(), run)
    if (lasting.length > 0 || passing.length === 0) return lasting
    if (patience.isOver(passing) || run.signal?.aborted) return passing
    await pause(BETWEEN_MS, run.signal)
  }
}

/** With openers: not for long with the same one, a while longer where it is another each time, as of who lists devices. */
export class Patience {
  #looks = 0
  #same = 0
  #last: string | undefined

  /** @param passing of this look, not empty */
  isOver([user]: readonly DiskUser[]): boolean {
    this.#looks += 1
    this.#same = user?.who === this.#last ? this.#same + 1 : 1
    this.#last = user?.who
    return this.#same >= TRIES || this.#looks >= MOST_TRIES
  }
}

/** Once. @throws StepFailed UsersUnknown */
export async function lookAtDisks(question: DiskQuestion, run: StepContext): Promise<DiskUsers> {
  const { nodes, luns = [], isNoUse, isOwnMount = () => false, isToBeFree = () => true } = question
  const { around, host } = run
  // First: it may have to wait for an answer, and the others are looked for at once.
  const loops = await loopsOn(nodes, run, question.loops)
  const mounts = (table: MountTable, pid?: number): [MountInfo, OnDisk][] =>
    mountsOf(table, nodes, host.blockTree).filter(([mount]) => !isOwnMount(mount, pid))
  const lasting = [
    ...luns.flatMap(unknownDriver),
    ...nodes.flatMap((node) => heldBy(node, isNoUse, run)),
    ...mounts(around.table).map(([mount, { on }]) => ({ disk: on, who: describeMount(mount) })),
    ...around.others.flatMap(({ table, process, pid }) =>
      mounts(table, pid).map(([mount, { on }]) => ({
        disk: on,
        who: `${describeMount(mount)}, in the namespace of ${describeProcess({ process, pid }, run.context.nameOf)}`,
      })),
    ),
    ...loops,
  ]
  if (lasting.length > 0) return { lasting, passing: [] }
  const passing = [...openersOf(question, run), ...kernelUsers(nodes.filter(isToBeFree), nodes, run)]
  if (passing.length > 0 || question.withMaps !== true) return { lasting, passing }
  return { lasting: await mappers(question, run), passing }
}

/** Which of these drivers' devices are in use only openers tell; of any other it is not known what it does. */
function unknownDriver({ address, driver }: IscsiLun): DiskUser[] {
  if (driver === undefined || ['st', 'ch', 'ses'].includes(driver)) return []
  return [{ disk: address, who: `driver ${driver}, of which no disk of ${address} is to be seen` }]
}

function openersOf({ nodes, luns = [], isOwnOpener = () => false }: DiskQuestion, run: StepContext): DiskUser[] {
  const { around, host, context } = run
  const byDev = new Map<string, { on: string; what: string; node?: OnDisk }>()
  for (const node of nodes) {
    const { dev, on, name, characters } = node
    for (const each of [dev, ...characters])
      byDev.set(each, { on, node, what: each === dev ? `/dev/${name}` : `${each} (${name})` })
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
    .flatMap((opener) => {
      const found = byDev.get(opener.dev)
      if (found === undefined || isOwnOpener(opener, found.node)) return []
      return [{ disk: found.on, who: `${describeProcess(opener, context.nameOf)}, which has ${found.what} open` }]
    })
}

async function mappers({ nodes, isOwnOpener = () => false }: DiskQuestion, run: StepContext): Promise<DiskUser[]> {
  const found = await mappersOf(nodes, run)
  return found
    .filter(({ pid, process, path }) => !isOwnOpener({ pid, process, dev: path }, undefined))
    .map((mapper) => ({
      disk: nodes[0]?.on ?? '',
      who: `${describeProcess(mapper, run.context.nameOf)}, which has ${mapper.path} mapped`,
    }))
}

/** The disks that are there, their partitions, and the multipath maps that they are paths of. */
export function withWhatIsOnThem(disks: readonly string[], { host: { blockTree } }: StepContext): OnDisk[] {
  const found = new Map<string, OnDisk>()
  const add = (name: string, on: string): void => {
    if (found.has(name)) return
    const node = blockTree.node(name)
    if (node === undefined) return
    found.set(name, { ...node, on, isBelow: false })
    for (const partition of node.partitions) add(partition, on)
    for (const holder of node.holders) if (blockTree.node(holder)?.isMultipath) add(holder, on)
  }
  for (const disk of disks) add(disk, disk)
  return [...found.values()]
}

/** An LVM volume, an open LUKS mapping, an array. */
function heldBy({ name, holders, on }: OnDisk, isNoUse: DiskQuestion['isNoUse'], { host }: StepContext): DiskUser[] {
  return holders
    .filter((holder) => {
      const node = host.blockTree.node(holder)
      return node === undefined || !isNoUse(node)
    })
    .map((holder) => ({ disk: on, who: `device ${holder}, which is made of ${name}` }))
}

/**
 * A superblock, or whoever has it exclusively; of what something else is made of that is asked itself. While the kernel
 * is recovering a SCSI host an open would wait for it: then nothing is known, and none is opened.
 */
function kernelUsers(free: readonly OnDisk[], nodes: readonly OnDisk[], { host }: StepContext): DiskUser[] {
  const recovering = nodes.find(({ isRecovering }) => isRecovering)
  if (recovering !== undefined)
    return [{ disk: recovering.on, who: `the kernel, which is recovering the SCSI host of ${recovering.name}` }]
  return free
    .filter(({ holders }) => holders.length === 0)
    .flatMap(({ dev, on }) => host.deviceUse(dev).users.map((who) => ({ disk: on, who })))
    .toSorted((a, b) => Number(isNobodyNamed(a)) - Number(isNobodyNamed(b)))
}

/** A disk is busy by what is on its partitions: that says more. */
const isNobodyNamed = ({ who }: DiskUser): boolean => who.startsWith(SOMEBODY)

/** File systems on it, and binds of its device file: block maps of the kubelet (P98). */
export function mountsOf<N extends BlockNode>(
  table: MountTable,
  nodes: readonly N[],
  tree: BlockTree,
): [MountInfo, N][] {
  const byName = new Map(nodes.map((node) => [node.name, node]))
  const onDevice = nodes.flatMap((node) => table.ofDevice(node.dev).map((mount): [MountInfo, N] => [mount, node]))
  const named = table.under('/').flatMap((mount): [MountInfo, N][] => {
    const node = namesBehind(mount, tree).flatMap((name) => byName.get(name) ?? [])[0]
    return node === undefined ? [] : [[mount, node]]
  })
  return [...onDevice, ...named]
}

/**
 * The devices of a mount whose number is not theirs: a bind of a device file; a file system that may have several
 * devices (btrfs, bcachefs), of which its source names one or all.
 */
export function namesBehind(mount: Pick<MountInfo, 'dev' | 'fsType' | 'root' | 'source'>, tree: BlockTree): string[] {
  const { dev, fsType, root, source } = mount
  if (!dev.startsWith('0:')) return []
  // sysfs has no directories among its names: cciss!c0d0.
  if (fsType === 'devtmpfs') return [undeletedRoot(root).slice(1).replaceAll('/', '!')]
  if (!source.startsWith('/dev/')) return []
  const named = source.split(':').map((file) => tree.nameOfFile(file) ?? file.slice('/dev/'.length))
  return [...new Set(named.flatMap((name) => [name, ...tree.devicesBeside(name)]))]
}
