/** Who uses a disk or anything on it: by a mount, a map, a loop device, a holder, or an open device file (S9, S21, S25). */

import { deviceNumberFrom, SOMEBODY } from '../linux/block/device-use.ts'
import type { BlockNode, BlockTree, IscsiLun } from '../linux/block/sysfs-block-tree.ts'
import { EVERYTHING, type OnDisk, wholeDisk } from '../linux/block/whole-disk.ts'
import { pause } from '../linux/deadline.ts'
import { isLocal, viewsOf } from '../linux/follow-links.ts'
import { isSourceAnyText } from '../linux/location.ts'
import type { MountInfo, MountTable } from '../linux/mount-table.ts'
import { undeletedPath, undeletedRoot } from '../linux/paths.ts'
import { SCAN_MS } from '../linux/scan-limits.ts'
import { advice, said, UsersUnknown } from '../messages/findings.ts'
import { ifAny } from '../trust/kernel.ts'
import { perRun } from '../trust/run.ts'
import { describeProcess, type UsedBy, usingProcess } from '../users/find-holders.ts'
import type { LoopFile } from '../users/kernel-files.ts'
import type { Opener } from '../users/uses.ts'
import type { ExpectedMount } from '../volumes/steps.ts'
import { isReleased, mountIn, tablesAround } from './expected-mounts.ts'
import type { Host } from './host.ts'
import type { MachineFacts } from './machine-facts.ts'

/** So many looks find the same opener; programs that list devices change, and get more. */
const SAME_TRIES = 3
const MOST_TRIES = 10
const BETWEEN_MS = 250

export interface DiskQuestion {
  readonly nodes: readonly OnDisk[]
  /** LUNs without a disk: tapes and the like. */
  readonly luns?: readonly IscsiLun[]
  /** True if the existence of this holder alone is no use of the device below it. */
  readonly isNoUse: (holder: BlockNode) => boolean
  /** Mounts that do not count. @param pid a process of the mount's namespace; absent: it is in ours */
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
 * The first user of the disks; undefined: nobody. If only openers are found, the search is repeated for a short time.
 *
 * @param luns LUNs without a disk: tapes and the like
 * @throws StepFailed UsersUnknown
 */
export async function userOfDisks(
  disks: readonly string[],
  facts: MachineFacts,
  luns: readonly IscsiLun[] = [],
): Promise<DiskUser | undefined> {
  const { blockTree } = facts.host
  const devices = disks.flatMap((disk) => blockTree.node(disk)?.dev ?? [])
  const isNoUse = ({ isMultipath }: BlockNode): boolean => isMultipath
  return userOf(() => ({ nodes: wholeDisk(devices, blockTree, EVERYTHING), luns, isNoUse }), facts)
}

/** As userOfDisks, for any devices. @param question called for each look @throws StepFailed UsersUnknown */
export async function userOf(question: () => DiskQuestion, facts: MachineFacts): Promise<DiskUser | undefined> {
  let same = 0
  let last: string | undefined
  for (let looks = 1; ; looks++) {
    facts.around.changed()
    const { user, isPassing } = await lookAtDisks(question(), facts)
    if (user === undefined || !isPassing) return user
    same = user.who === last ? same + 1 : 1
    last = user.who
    if (same === SAME_TRIES || looks === MOST_TRIES || facts.signal?.aborted) return user
    await facts.waiting.spend(() => pause(BETWEEN_MS, facts.signal))
  }
}

/**
 * One look.
 *
 * @returns the first user: an opener is passing, and may be gone in a moment, as udev and blkid open a device after every unmount
 * @throws StepFailed UsersUnknown
 */
export async function lookAtDisks(question: DiskQuestion, facts: MachineFacts) {
  const { nodes, luns = [], isNoUse, isOwnMount, isToBeFree = () => true, isOwnLoop } = question
  const { around, host, context } = facts
  const loops = await loopsOn(nodes, facts, isOwnLoop)
  const [lasting] = [
    ...luns.flatMap(unknownDriver),
    ...nodes.flatMap((node) => holdersOf(node, isNoUse, facts)),
    ...[...tablesAround(around)].flatMap(({ table, other }) =>
      mountsOf(table, nodes, host.blockTree)
        .filter(([mount]) => !isOwnMount?.(mount, other?.pid, table))
        .map(([mount, { on }]) => ({ disk: on, ...mountIn(mount, other, context.nameOf) })),
    ),
    ...loops,
  ]
  if (lasting !== undefined) return { user: lasting, isPassing: false }
  const { mapped, open } = await openersOf(question, facts)
  if (mapped.length > 0) return { user: mapped[0], isPassing: false }
  const [user] = [...open, ...kernelUsers(nodes.filter(isToBeFree), nodes, facts)]
  return { user, isPassing: true }
}

/** For devices of these drivers, openers show the use. Use by other drivers is unknown, and counts as use. */
function unknownDriver({ address, driver }: IscsiLun): DiskUser[] {
  if (driver === undefined || ['st', 'ch', 'ses'].includes(driver)) return []
  return [{ disk: address, who: `driver ${driver}, which shows no disk for SCSI address ${address}` }]
}

/** A mapping lasts; an open descriptor may be that of a program which lists devices. */
async function openersOf({ nodes, luns = [], isOwnOpener }: DiskQuestion, facts: MachineFacts) {
  const byDev = new Map<string, { on: string; what: string; node?: OnDisk }>()
  for (const node of nodes) {
    const { dev, on, name, characters } = node
    // A device can also be open by its generic character devices.
    for (const each of [dev, ...characters])
      byDev.set(each, { on, node, what: each === dev ? `/dev/${name}` : `${each} (${name})` })
  }
  for (const { address, characters } of luns) {
    for (const each of characters) byDev.set(each, { on: address, what: `${each} (${address})` })
  }
  const devices = new Set(byDev.keys())
  const uses = await facts.waiting.spend((ms) => facts.around.uses({ devices }, ms))
  const found = { mapped: [] as DiskUser[], open: [] as DiskUser[] }
  for (const opener of uses.openers(devices)) {
    const { on = '', what = '', node } = byDev.get(opener.dev) ?? {}
    if (isOwnOpener?.(opener, node) || facts.host.isPathChecker(opener.pid)) continue
    found[opener.how].push({
      disk: on,
      who: `${describeProcess(opener, facts.context.nameOf)}, which has ${what} ${opener.how}`,
      users: [usingProcess(opener)],
    })
  }
  const [unknown] = uses.unseen
  if (found.mapped.length + found.open.length > 0 || unknown === undefined) return found
  const disks = [...new Set([...byDev.values()].map(({ on }) => on))].join(', ')
  throw new UsersUnknown(said('UsersUnknown.disks', { disks, why: unknown.text }), {
    hint: advice`${unknown.hint} Then plan again.`,
  })
}

/** An LVM volume, an open LUKS mapping, an array. */
function holdersOf(
  { name, holders, on }: OnDisk,
  isNoUse: DiskQuestion['isNoUse'],
  { host }: MachineFacts,
): DiskUser[] {
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
function kernelUsers(free: readonly OnDisk[], nodes: readonly OnDisk[], { host }: MachineFacts): DiskUser[] {
  const recovering = nodes.find(({ isRecovering }) => isRecovering)
  if (recovering !== undefined)
    return [{ disk: recovering.on, who: `the kernel, which is recovering the SCSI host of ${recovering.name}` }]
  return free
    .filter(({ holders }) => holders.length === 0)
    .flatMap(({ dev, on }) => host.deviceUsers(dev).map((who) => ({ disk: on, who })))
    .toSorted((a, b) => Number(isNobodyNamed(a)) - Number(isNobodyNamed(b)))
}

/** Named last: a disk is also busy because of its partitions' users, which say more. */
const isNobodyNamed = ({ who }: DiskUser): boolean => who.startsWith(SOMEBODY)

/** Mounts of file systems on the devices, and bind mounts of their device files (the kubelet's block maps, P98). */
function mountsOf(table: MountTable, nodes: readonly OnDisk[], tree: BlockTree): [MountInfo, OnDisk][] {
  const byName = new Map(nodes.map((node) => [node.name, node]))
  const onDevice = nodes.flatMap((node) => table.ofDevice(node.dev).map((mount): [MountInfo, OnDisk] => [mount, node]))
  const named = table.all.flatMap((mount): [MountInfo, OnDisk][] => {
    const node = namesBehind(mount, tree).flatMap((name) => byName.get(name) ?? [])[0]
    return node === undefined ? [] : [[mount, node]]
  })
  return [...onDevice, ...named]
}

/**
 * Names of the devices behind a mount whose device number differs from theirs: a bind mount of a device file, or a file
 * system on several devices (btrfs, bcachefs), whose source names one or all of them.
 */
export function namesBehind(mount: Omit<ExpectedMount['layers'][number], 'id'>, tree: BlockTree): string[] {
  const { dev, fsType, root, source = '' } = mount
  if (!dev.startsWith('0:')) return []
  // sysfs names have "!" for the slash: cciss!c0d0.
  if (fsType === 'devtmpfs') return [undeletedRoot(root).slice(1).replaceAll('/', '!')]
  if (!source.startsWith('/dev/') || isSourceAnyText(fsType)) return []
  const named = source.split(':').map((file) => tree.nameOfFile(file) ?? file.slice('/dev/'.length))
  return [...new Set(named.flatMap((name) => [name, ...tree.devicesBeside(name)]))]
}

/** Its number; of a bind mount of a device file that of the device, if there still is one. */
export function deviceBehind(
  { dev, fsType, root }: Pick<MountInfo, 'dev' | 'fsType' | 'root'>,
  { deviceNumber }: Host,
): string | undefined {
  return fsType === 'devtmpfs' ? deviceNumber(`/dev${root}`) : dev
}

// Finds loop devices on a disk, whatever name their backing file has here (S21, S25).

/** Who or what uses a disk. */
export interface DiskUser extends UsedBy {
  /** The disk, or the LUN's address, that was asked about; the user may have its partition or its multipath map. */
  readonly disk: string
}

/**
 * A container may have put a loop device on a device file that it made itself, whose name means nothing here. So every loop
 * device of a fitting size counts as a user, unless its backing file is shown to be something else. That the file lies on a
 * disk shows nothing: a device file may, too.
 *
 * @param isOwn loop devices that do not count; loop devices that the operation itself releases never count
 */
export async function loopsOn(
  nodes: readonly OnDisk[],
  facts: MachineFacts,
  isOwn?: DiskQuestion['isOwnLoop'],
): Promise<DiskUser[]> {
  const { around, host, operation } = facts
  const [first] = nodes
  if (first === undefined) return []
  const byFile = new Map(nodes.map((node) => [`/dev/${node.name}`, node]))
  const byDev = new Map(nodes.map((node) => [node.dev, node]))
  const users: DiskUser[] = []
  for (const loop of around.kernelFiles.loops) {
    const { device, backingFile } = loop
    if (isReleased(loop, operation) || isOwn?.(device)) continue
    // No loop device is made of itself.
    if (byFile.has(device)) continue
    const named = byFile.get(undeletedPath(backingFile))
    if (named === undefined && !nodes.some(({ dev }) => host.mayBeMadeOf(device, dev))) continue
    const behind = named?.dev ?? (await behindLoop(loop, facts))
    const node = byDev.get(behind ?? '')
    if (node !== undefined) users.push({ disk: node.on, who: `${device}, backed by ${backingFile}` })
    // A loop device whose driver has just released it cannot be asked any more, and uses nothing.
    else if (
      behind === undefined &&
      host.loops().some((each) => each.device === device && each.backingFile === backingFile)
    ) {
      const who = `possibly ${device}: its backing file ${backingFile} could not be identified`
      users.push({ disk: first.on, who })
    }
  }
  return users
}

/**
 * The number of the device node behind a loop device, whatever its name, or `file`. The kernel knows the file system and inode
 * of the backing file, and the name by which it was opened, in whichever mount namespace. What has that name somewhere, or is
 * a node in /dev, and has the same two, is that file: an inode in use is not reused.
 *
 * @returns undefined: not known
 */
async function behindLoop({ device, backingFile }: LoopFile, facts: MachineFacts): Promise<string | undefined> {
  const { host, around } = facts
  const path = undeletedPath(backingFile)
  const views = viewsOf(around.table, around.others)
  // The kernel would ask the server of the file.
  if (!isLocal(views[0], path)) return undefined
  const [inode, fileSystem] = (await askLoop(device, facts)) ?? []
  const names = (ifAny(() => host.listNames('/dev')) ?? []).map((name) => [`/dev/${name}`, views[0]] as const)
  // One after the other: it nearly always has its name still, and /dev may have thousands.
  const found = [...views.map((view) => [path, view] as const), ...names]
    .values()
    .map(([at, view]) => host.lstat(at, view))
    .find(
      (file) => file?.id !== undefined && String(file.id.ino) === inode && deviceNumberFrom(file.id.dev) === fileSystem,
    )
  return found?.type === 'file' ? 'file' : found?.device
}

/** What the kernel has said of each file on a loop device, by the device and its sequence number: another file raises that. */
const answers = perRun(() => new Map<string, readonly string[]>())

/** Inode and file system of the backing file, as the kernel reports them: asked once, since a node may have hundreds of them. */
async function askLoop(loop: string, { host, waiting }: MachineFacts): Promise<readonly string[] | undefined> {
  const sequence = sequenceOf(loop, host)
  const saidOf = answers()
  const known = sequence === undefined ? undefined : saidOf.get(sequence)
  if (known !== undefined) return known
  try {
    const ask = ['--list', '--noheadings', '--output', 'BACK-INO,BACK-MAJ:MIN', loop]
    const { stdout } = await waiting.spend((ms) => host.run('losetup', ask, Math.min(ms, SCAN_MS.losetupOfOne)))
    const said = stdout.trim().split(/\s+/)
    if (said.length === 2 && sequence !== undefined && sequenceOf(loop, host) === sequence) saidOf.set(sequence, said)
    return said
  } catch {
    return undefined
  }
}

/** Undefined: the kernel is older than 5.15, or there is no such device. */
function sequenceOf(loop: string, host: Host): string | undefined {
  const dev = host.deviceNumber(loop)
  const sequence = dev === undefined ? undefined : host.diskSequence(dev)
  return sequence === undefined ? undefined : `${loop} ${sequence}`
}
