/** Flushes and removes SCSI disks that nothing uses: multipath maps first, then each path (P76, P81, S25). */

import { commandLine } from '../../base/command.ts'
import { StepFailed } from '../../base/operation-error.ts'
import type { BlockTree, IscsiSession } from '../../linux/block/sysfs-block-tree.ts'
import type { MountInfo } from '../../linux/mount-table.ts'
import type { Host } from '../../node/host.ts'
import { deviceBehind, usersOfDisks } from '../../rules/disk-users.ts'
import { expectedIds, isExpected } from '../../rules/expected-mounts.ts'
import type { CommandResult } from '../../trust/programs.ts'
import { pluginNamed } from '../../volumes/registry.ts'
import type { StepContext } from '../operation/ports.ts'
import { command, firstLineOf } from '../operation/step-command.ts'

/**
 * Removes disks that sysfs shows to be exactly this volume's. Right before each flush and removal, volctl checks again that
 * each is still that disk and that nobody uses it. Whether a removal worked is read from sysfs, not from an exit status
 * (S26).
 *
 * @throws StepFailed HeldBy, ForeignDevice, TimedOut, CommandFailed; disks that are not removed stay untouched
 */
export async function removeDisks(disks: readonly SeenDisk[], run: StepContext): Promise<void> {
  const here = await requireStillUnused(disks, run)
  const maps = mapsOver(here, run)
  if (maps.length > 0) run.host.requireCommand('multipath')
  for (const map of maps) {
    const now = await requireStillUnused(here, run)
    if (mapsOver(now, run).includes(map)) await flushMap(map, run)
  }
  for (const disk of here) await removeDisk(disk, run)
}

async function removeDisk(disk: SeenDisk, run: StepContext): Promise<void> {
  const { blockTree } = run.host
  const { name } = disk
  if ((await requireStillUnused([disk], run)).length === 0) return
  // A failure to flush does not matter: the file system is unmounted and the map closed, so nothing is left to write (P81).
  await command(run, 'blockdev', ['--flushbufs', `/dev/${name}`])
  if ((await requireStillUnused([disk], run)).length === 0) return
  const [holder] = blockTree.node(name)?.holders ?? []
  if (holder !== undefined) {
    throw new StepFailed('HeldBy', `${name} is still in use: device ${holder} was built on it meanwhile`)
  }
  const file = blockTree.deletePath(name)
  run.say(`writing 1 to ${file}`)
  // In a child: on a dead path the write hangs.
  const result = await command(run, 'tee', ['--', file], '1')
  if (blockTree.node(name) !== undefined) throw failed(`${name} is still there after 1 was written to ${file}`, result)
}

/** Checked before each change, since the previous one may have taken minutes. @returns the disks that are still there */
async function requireStillUnused(disks: readonly SeenDisk[], run: StepContext): Promise<readonly SeenDisk[]> {
  run.around.changed()
  const before = disks.filter((disk) => isStillThere(disk, run))
  await requireDisksUnused(before, run)
  // Again, since the check may have waited for openers.
  return before.filter((disk) => isStillThere(disk, run))
}

/** @throws StepFailed HeldBy */
export async function requireDisksUnused(disks: readonly SeenDisk[], run: StepContext): Promise<void> {
  const names = disks.map(({ name }) => name)
  const [user] = await usersOfDisks(names, run)
  if (user === undefined) return
  throw new StepFailed('HeldBy', `${names.join(', ')} is still in use: ${user.who}`)
}

/** Multipath maps over these disks. @throws StepFailed ForeignDevice if a map has a disk that is not this volume's */
function mapsOver(seen: readonly SeenDisk[], { host: { blockTree } }: StepContext): string[] {
  const disks = seen.map(({ name }) => name)
  const maps = new Set(disks.flatMap((disk) => blockTree.node(disk)?.holders ?? []))
  for (const map of maps) {
    const node = blockTree.node(map)
    const other = node?.slaves.find((slave) => !disks.includes(slave))
    if (node?.isMultipath && other === undefined) continue
    throw new StepFailed(
      'ForeignDevice',
      `device ${map} is built on ${disks.join(', ')} and also on ${other ?? 'something unknown'}`,
      {
        hint: `Find out what it is (multipath -ll, ${commandLine('dmsetup', 'info', `/dev/${map}`)}); flush it yourself, then plan again.`,
      },
    )
  }
  return [...maps]
}

async function flushMap(map: string, run: StepContext): Promise<void> {
  const result = await command(run, 'multipath', ['-f', `/dev/${map}`])
  if (run.host.blockTree.node(map) === undefined) return
  throw failed(`multipath map ${map} is still there after multipath -f`, result)
}

function failed(message: string, result: CommandResult): StepFailed {
  return new StepFailed('CommandFailed', `${message}: ${firstLineOf(result)}`)
}

// The SCSI disks behind what an operation, and earlier ones on the same volume, found mounted or mapped (P81).

/**
 * Records the devices of mounts that are about to be unmounted. Only those that are still mounted count: another device
 * number in the plan may belong to another disk by now (S26).
 */
export function noteMounted({ operation, around, host, record }: StepContext): void {
  if (pluginNamed(operation.volume?.plugin ?? '').device?.release === undefined) return
  const expected = expectedIds(operation)
  for (const { path } of operation.expects ?? []) {
    for (const mount of around.table.at(path)) {
      const dev = isExpected(mount, expected) ? deviceOf(mount, host) : undefined
      if (dev !== undefined) record.noteMounted(dev)
    }
  }
}

/** For a bind mount of a device file, that device; for btrfs, which has its own number, the device that its source names. */
function deviceOf(mount: MountInfo, host: Host): string | undefined {
  const dev = deviceBehind(mount, host)
  const name = dev?.startsWith('0:') === true ? host.blockTree.nameOfFile(mount.source) : undefined
  return (name === undefined ? undefined : host.blockTree.node(name)?.dev) ?? dev
}

/** Names of the disks; empty: nothing was mounted, or its device is already gone. @throws StepFailed ForeignDevice */
export function mountedDisks({ record, host }: StepContext): Set<string> {
  const { blockTree } = host
  const names = [...record.mounted].flatMap(([dev, { sequence }]) => {
    if (dev.startsWith('0:')) throw notScsi(dev)
    const name = blockTree.nameOf(dev)
    if (name === undefined) return []
    if (host.diskSequence(dev) === sequence) return name
    throw new StepFailed(
      'ForeignDevice',
      `${name} now has device number ${dev}, which was mounted, but is another disk`,
    )
  })
  return new Set(names.flatMap((name) => disksBehind(name, blockTree)))
}

/** The disks of a device: a multipath map's paths, a partition's disk, or the disk itself with the other paths of its map. */
export function disksBehind(name: string, blockTree: BlockTree): string[] {
  const node = blockTree.node(name)
  if (node === undefined) return []
  if (node.disk !== undefined) return disksBehind(node.disk, blockTree)
  if (node.isMultipath) return [...node.slaves]
  if (!node.isScsi) throw notScsi(node.name)
  const maps = node.holders.flatMap((holder) => blockTree.node(holder) ?? []).filter((holder) => holder.isMultipath)
  return [name, ...maps.flatMap(({ slaves }) => slaves)]
}

function notScsi(name: string): StepFailed {
  return new StepFailed('ForeignDevice', `${name} is neither a SCSI disk nor a multipath map of SCSI disks`)
}

// A volume's disks, as they were when found: names, numbers and addresses may be reused for other disks (S26).

export interface SeenDisk {
  readonly name: string
  /** Number, address, disk sequence and session: another device of the same name differs in one of these. */
  readonly identity: string
}

/** The disks that exist. @throws StepFailed ForeignDevice */
export function seeDisks(
  names: readonly string[],
  run: StepContext,
  sessions: readonly IscsiSession[] = run.host.blockTree.iscsiSessions(),
): SeenDisk[] {
  return [...new Set(names)].flatMap((name) => {
    const identity = identityOf(name, sessions, run)
    return identity === undefined ? [] : [{ name, identity }]
  })
}

/** @returns whether the disk is still there @throws StepFailed ForeignDevice */
function isStillThere({ name, identity }: SeenDisk, run: StepContext): boolean {
  const now = identityOf(name, run.host.blockTree.iscsiSessions(), run)
  if (now === undefined || now === identity) return now !== undefined
  throw new StepFailed('ForeignDevice', `${name} is another device than a moment ago`)
}

function identityOf(name: string, sessions: readonly IscsiSession[], { host }: StepContext): string | undefined {
  const node = host.blockTree.node(name)
  if (node === undefined) return undefined
  const { dev, scsiAddress } = node
  const session = sessions.find(({ luns }) => luns.some(({ disks }) => disks.includes(name)))
  const address = session?.luns.find(({ disks }) => disks.includes(name))?.address
  if (address !== undefined && address !== scsiAddress) {
    throw new StepFailed(
      'ForeignDevice',
      `${name} is at ${scsiAddress ?? 'no SCSI address'}, and ${session?.name} has it at ${address}`,
    )
  }
  return [dev, scsiAddress, host.diskSequence(dev), session?.name, session?.iqn].join(' ')
}
