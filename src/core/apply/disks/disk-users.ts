/** Who uses a disk or anything on it: by a mount, a map, a loop device, a holder, or an open device file (S9, S21, S25). */

import type { BlockNode, BlockTree, IscsiLun } from '../../block/block-tree.ts'
import { SOMEBODY } from '../../block/device-use.ts'
import type { OnDisk } from '../../block/whole-disk.ts'
import { describeProcess, usingProcess } from '../../holders/describe-holders.ts'
import type { Opener } from '../../holders/uses.ts'
import { undeletedRoot } from '../../mountinfo/deleted.ts'
import { isSourceAnyText } from '../../mountinfo/file-systems.ts'
import type { MountInfo, MountTable } from '../../mountinfo/mount-table.ts'
import { pause } from '../../processes/deadline.ts'
import { mountIn, tablesAround } from '../operation/expected-mounts.ts'
import type { StepContext } from '../operation/step-context.ts'
import { numbersOf, processesWith, requireSeen } from './device-processes.ts'
import type { DiskUser } from './disk-user.ts'
import { loopsOn } from './loops-on-disks.ts'

const TRIES = 3
const MOST_TRIES = 10
export const BETWEEN_MS = 250

export interface DiskUsers {
  readonly lasting: readonly DiskUser[]
  /** Openers only, which may be gone in a moment: udev and blkid open a device after every unmount. */
  readonly passing: readonly DiskUser[]
}

export interface DiskQuestion {
  readonly nodes: readonly OnDisk[]
  /** LUNs without a disk: tapes and the like. */
  readonly luns?: readonly IscsiLun[]
  /** True if the existence of this holder alone is no use of the device below it. */
  readonly isNoUse: (holder: BlockNode) => boolean
  /** Mounts that do not count; default: none. @param pid a process of the mount's namespace; absent: it is in ours */
  readonly isOwnMount?: (mount: MountInfo, pid: number | undefined, table: MountTable) => boolean
  /** Openers that do not count; default: none. */
  readonly isOwnOpener?: (opener: Opener, node: OnDisk | undefined) => boolean
  /**
   * Whether an exclusive open of the device must succeed, which fails while anything has the device open (S21); default: yes.
   */
  readonly isToBeFree?: (node: OnDisk) => boolean
  /** Loop devices that do not count; default: none. */
  readonly isOwnLoop?: (device: string) => boolean
}

/**
 * Users of the disks; empty: none. If only openers are found, the search is repeated for a short time.
 *
 * @param luns LUNs without a disk: tapes and the like
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

/** As usersOfDisks, for any devices. @param question called for each look @throws StepFailed UsersUnknown */
export async function usersOf(question: () => DiskQuestion, run: StepContext): Promise<readonly DiskUser[]> {
  const patience = new Patience()
  for (;;) {
    const { lasting, passing } = await lookAtDisks(question(), run)
    if (lasting.length > 0 || passing.length === 0) return lasting
    if (patience.isOver(passing) || run.signal?.aborted) return passing
    await pause(BETWEEN_MS, run.signal)
  }
}

/**
 * How long to wait for openers: a short time if it is always the same one, longer if they change (programs that list
 * devices).
 */
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

/** One look. @throws StepFailed UsersUnknown */
export async function lookAtDisks(question: DiskQuestion, run: StepContext): Promise<DiskUsers> {
  const { nodes, luns = [], isNoUse, isOwnMount = () => false, isToBeFree = () => true } = question
  const { around, host } = run
  const loops = await loopsOn(nodes, run, question.isOwnLoop)
  const lasting = [
    ...luns.flatMap(unknownDriver),
    ...nodes.flatMap((node) => holdersOf(node, isNoUse, run)),
    ...[...tablesAround(around)].flatMap(({ table, other }) =>
      mountsOf(table, nodes, host.blockTree)
        .filter(([mount]) => !isOwnMount(mount, other?.pid, table))
        .map(([mount, { on }]) => ({ disk: on, ...mountIn(mount, other, run.context.nameOf) })),
    ),
    ...loops,
  ]
  if (lasting.length > 0) return { lasting, passing: [] }
  const { mapped, open } = await openersOf(question, run)
  if (mapped.length > 0) return { lasting: mapped, passing: [] }
  return { lasting, passing: [...open, ...kernelUsers(nodes.filter(isToBeFree), nodes, run)] }
}

/** For devices of these drivers, openers show the use. Use by other drivers is unknown, and counts as use. */
function unknownDriver({ address, driver }: IscsiLun): DiskUser[] {
  if (driver === undefined || ['st', 'ch', 'ses'].includes(driver)) return []
  return [{ disk: address, who: `driver ${driver}, which shows no disk for SCSI address ${address}` }]
}

/** A mapping lasts; an open descriptor may be that of a program which lists devices. */
async function openersOf(
  { nodes, luns = [], isOwnOpener = () => false }: DiskQuestion,
  run: StepContext,
): Promise<Record<Opener['how'], DiskUser[]>> {
  const byDev = new Map<string, { on: string; what: string; node?: OnDisk }>()
  for (const node of nodes) {
    const { dev, on, name } = node
    for (const each of numbersOf(node))
      byDev.set(each, { on, node, what: each === dev ? `/dev/${name}` : `${each} (${name})` })
  }
  for (const { address, characters } of luns) {
    for (const each of characters) byDev.set(each, { on: address, what: `${each} (${address})` })
  }
  const devices = new Set(byDev.keys())
  const uses = await processesWith({ devices }, run)
  const found = { mapped: [] as DiskUser[], open: [] as DiskUser[] }
  for (const opener of uses.openers(devices)) {
    const { on = '', what = '', node } = byDev.get(opener.dev) ?? {}
    if (isOwnOpener(opener, node) || run.host.isPathChecker(opener.pid)) continue
    found[opener.how].push({
      disk: on,
      who: `${describeProcess(opener, run.context.nameOf)}, which has ${what} ${opener.how}`,
      users: [usingProcess(opener)],
    })
  }
  if (found.mapped.length + found.open.length === 0) requireSeen(uses, new Set([...byDev.values()].map(({ on }) => on)))
  return found
}

/** The disks that exist, their partitions, and the multipath maps over them. */
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
function holdersOf({ name, holders, on }: OnDisk, isNoUse: DiskQuestion['isNoUse'], { host }: StepContext): DiskUser[] {
  return holders
    .filter((holder) => {
      const node = host.blockTree.node(holder)
      return node === undefined || !isNoUse(node)
    })
    .map((holder) => ({ disk: on, who: `device ${holder}, which is built on ${name}` }))
}

/**
 * Users that only the kernel shows: a superblock, or an exclusive opener. A device with holders is skipped, since the holders
 * are checked themselves. While the kernel recovers a SCSI host an open would hang: then nothing is opened, and the recovery
 * counts as use.
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

/** Named last: a disk is also busy because of its partitions' users, which say more. */
const isNobodyNamed = ({ who }: DiskUser): boolean => who.startsWith(SOMEBODY)

/** Mounts of file systems on the devices, and bind mounts of their device files (the kubelet's block maps, P98). */
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
 * Names of the devices behind a mount whose device number differs from theirs: a bind mount of a device file, or a file
 * system on several devices (btrfs, bcachefs), whose source names one or all of them.
 */
export function namesBehind(mount: Pick<MountInfo, 'dev' | 'fsType' | 'root' | 'source'>, tree: BlockTree): string[] {
  const { dev, fsType, root, source } = mount
  if (!dev.startsWith('0:')) return []
  // sysfs names have "!" for the slash: cciss!c0d0.
  if (fsType === 'devtmpfs') return [undeletedRoot(root).slice(1).replaceAll('/', '!')]
  if (!source.startsWith('/dev/') || isSourceAnyText(fsType)) return []
  const named = source.split(':').map((file) => tree.nameOfFile(file) ?? file.slice('/dev/'.length))
  return [...new Set(named.flatMap((name) => [name, ...tree.devicesBeside(name)]))]
}
