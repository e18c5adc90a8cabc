/**
 * Which disks and sessions an iSCSI or Fibre Channel volume has, and whether they may be released (P76, P81, S25, S26). Asked between
 * steps, right before each change: what says which LUN it is lies below the mount that goes first, and a flush may have taken minutes.
 */

import { posix } from 'node:path'
import type { BlockTree, IscsiSession } from '../linux/block/sysfs-block-tree.ts'
import { inOneSpelling } from '../linux/location.ts'
import type { FailureCode } from '../messages/codes.ts'
import { advice, commandLine, type Hint, marked } from '../messages/command.ts'
import { type Finding, StepFailed, said } from '../messages/findings.ts'
import { type FcDisk, isFcDisk, isFcLink, parseFcDirectory } from '../volumes/fc.ts'
import { ISCSI_PLUGIN, ifaceOf, isDirectoryOf, parseIscsiDirectory, parseIscsiJson } from '../volumes/iscsi.ts'
import { pluginNamed } from '../volumes/registry.ts'
import { deviceBehind, userOfDisks } from './disk-users.ts'
import { describeMount, expectedMounts, isExpected } from './expected-mounts.ts'
import { deviceAt } from './find-volume-device.ts'
import type { Host } from './host.ts'
import type { IscsiVolume, MachineFacts, SeenDisk } from './machine-facts.ts'
import type { MachineJudge } from './rule.ts'

/** Each disk that is still there is the one that was found. */
export const otherDisk: MachineJudge = ({ lun, host }) => {
  const other = lun?.disks.find(({ name, identity }) => ![undefined, identity].includes(identityOf(name, host)))
  return other && said('ForeignDevice.another', { name: other.name })
}

export const usedLun: MachineJudge = async (facts) => {
  const names = stillThere(facts.lun?.disks ?? [], facts.host).map(({ name }) => name)
  const user = names.length === 0 ? undefined : await userOfDisks(names, facts)
  return user && said('HeldBy.disks', { disks: names.join(', '), who: user.who })
}

/** Whatever the device is: a map of the disk is flushed by now. */
export const builtUpon: MachineJudge = ({ lun, host }) => {
  for (const { name } of lun?.disks ?? []) {
    const [holder] = host.blockTree.node(name)?.holders ?? []
    if (holder !== undefined) return said('HeldBy.builtOn', { name, holder })
  }
  return undefined
}

/**
 * The record of a shared session may be removed only if a later tear-down will end the session: if there is another record of
 * the target, or a pod wants one of its LUNs (S14). The user of the other LUN may be gone in a moment.
 */
export const lastRecord: MachineJudge = async ({ lun, host, plan }) => {
  const kept = lun?.kept
  if (kept === undefined) return undefined
  const { directory, disk, sharedWith } = kept
  const plugin = `${plan.rootDir}/plugins/${ISCSI_PLUGIN}`
  // Mounted or not, of another LUN of the target through the same interface.
  const hasOther = [plugin, `${plugin}/volumeDevices`]
    .map((each) => `${each}/iface-${disk.iface}`)
    .flatMap((each) => host.listNames(each).map((name) => `${each}/${name}`))
    .some((path) => path !== directory && parseIscsiDirectory(path)?.iqn === disk.iqn)
  if (hasOther || (await kept.wantedBy()) !== undefined) return undefined
  return said('HeldBy.noRecord', { kept: keptText(kept, sharedWith) })
}

/** A log-out removes every LUN that the session has by then: LUNs that have appeared since belong to somebody else. */
export const newLun: MachineJudge = ({ lun }) => {
  const ended = lun?.ended
  if (ended === undefined) return undefined
  const [added] = ended.sessions.flatMap(({ name, luns }) =>
    luns.flatMap(({ disks }) => disks.map((each) => `${each} of ${name}`)),
  )
  const why = ended.sharedWith ?? (added && `${added} appeared while the others were removed`)
  if (why === undefined) return undefined
  return {
    ...said('HeldBy.session', { iqn: ended.disk.iqn, why }),
    hint: marked('Find out who uses it (lsblk, `iscsiadm -m session -P 3`); then plan again: the directory is kept.'),
  }
}

/** S25 keeps the devices as well: if one LUN of a session is in use, the whole session is left alone. */
export function keptText({ sessions, disks }: IscsiVolume, reason: string | undefined): string {
  const what = [...sessions, ...disks].map(({ name }) => name).join(', ')
  return `its iSCSI session${what === '' ? '' : ` (${what})`} is kept: ${reason}`
}

// Which disks they are.

/** The disks that exist. */
function seeDisks(names: Iterable<string>, host: Host): SeenDisk[] {
  return [...new Set(names)].flatMap((name) => {
    const identity = identityOf(name, host)
    return identity === undefined ? [] : [{ name, identity }]
  })
}

export function stillThere(disks: readonly SeenDisk[], { blockTree }: Host): SeenDisk[] {
  return disks.filter(({ name }) => blockTree.node(name) !== undefined)
}

/** @throws StepFailed ForeignDevice */
function identityOf(name: string, { blockTree, diskSequence }: Host): string | undefined {
  const node = blockTree.node(name)
  if (node === undefined) return undefined
  const { dev, scsiAddress } = node
  const found = blockTree
    .iscsiSessions()
    .flatMap(({ luns, ...session }) => luns.map((lun) => ({ ...lun, session })))
    .find(({ disks }) => disks.includes(name))
  if (found !== undefined && found.address !== scsiAddress)
    throw foreign(
      said('ForeignDevice.otherAddress', {
        name,
        scsiAddress: scsiAddress ?? 'no SCSI address',
        session: found.session.name,
        address: found.address,
      }),
    )
  return [dev, scsiAddress, diskSequence(dev), found?.session.name, found?.session.iqn].join(' ')
}

/** Multipath maps over these disks. @throws StepFailed ForeignDevice if a map has a disk that is not this volume's */
export function mapsOver(seen: readonly SeenDisk[], { blockTree }: Host): string[] {
  const disks = seen.map(({ name }) => name)
  const maps = new Set(disks.flatMap((disk) => blockTree.node(disk)?.holders ?? []))
  for (const map of maps) {
    const node = blockTree.node(map)
    const other = node?.slaves.find((slave) => !disks.includes(slave))
    if (node?.isMultipath && other === undefined) continue
    throw foreign(
      said('ForeignDevice.sharedMap', { map, disks: disks.join(', '), other: other ?? 'something unknown' }),
      advice`Find out what it is (multipath -ll, ${commandLine('dmsetup', 'info', `/dev/${map}`)}); flush it yourself, then plan again.`,
    )
  }
  return [...maps]
}

/**
 * Records the devices of mounts that are about to be unmounted. Only those that are still mounted count: another device
 * number in the plan may belong to another disk by now (S26).
 */
export function noteMounted(facts: MachineFacts): void {
  const { operation, host, record } = facts
  if (pluginNamed(operation.volume?.plugin ?? '').device?.release === undefined) return
  for (const mount of expectedMounts(facts)) {
    if (!isExpected(mount, operation)) continue
    const dev = deviceBehind(mount, host)
    // btrfs has a number of its own: the device is the one that its source names.
    const disk = (dev?.startsWith('0:') ? deviceAt(mount.source, host) : undefined) ?? dev
    if (disk === undefined) continue
    record.note(disk)
    record.mounted.add(disk)
  }
}

/** Names of the disks behind what was mounted; empty: nothing was, or its device is already gone. @throws StepFailed ForeignDevice */
function mountedDisks({ record, host }: MachineFacts): string[] {
  const { blockTree } = host
  return [...record.mounted].flatMap((dev) => {
    if (dev.startsWith('0:')) throw notScsi(dev)
    const name = blockTree.nameOf(dev)
    if (name === undefined) return []
    if (host.diskSequence(dev) === record.devices.get(dev)?.sequence) return disksBehind(name, blockTree)
    throw foreign(said('ForeignDevice.reused', { name, dev }))
  })
}

/** The disks of a device: a multipath map's paths, a partition's disk, or the disk itself with the other paths of its map. */
function disksBehind(name: string, blockTree: BlockTree): string[] {
  const node = blockTree.node(name)
  if (node === undefined) return []
  if (node.disk !== undefined) return disksBehind(node.disk, blockTree)
  if (node.isMultipath) return [...node.slaves]
  if (!node.isScsi) throw notScsi(node.name)
  const maps = node.holders.flatMap((holder) => blockTree.node(holder) ?? []).filter((holder) => holder.isMultipath)
  return [name, ...maps.flatMap(({ slaves }) => slaves)]
}

function notScsi(name: string): StepFailed {
  return foreign(said('ForeignDevice.notScsi', { name }))
}

function foreign(finding: Finding<'ForeignDevice'>, hint?: Hint): StepFailed {
  return new StepFailed(finding, { hint })
}

/** Nothing of a LUN is known as long as its directory is mounted. @throws StepFailed HeldBy */
function requireUnmounted(directory: string, { around }: MachineFacts): void {
  const mount = around.table.at(directory).at(-1)
  if (mount !== undefined) throw new StepFailed(said('HeldBy.still', { mount: describeMount(mount) }))
}

// Fibre Channel.

/**
 * The disks are those of the mount, not those of the directory's name. If nothing was mounted any more (an interrupted
 * tear-down), they are the ones that udev's links name exactly.
 *
 * @throws StepFailed IdentityUnconfirmed, ForeignDevice
 */
export function fcDisks(directory: string, facts: MachineFacts): readonly SeenDisk[] {
  requireUnmounted(directory, facts)
  const { blockTree } = facts.host
  const name = posix.basename(directory)
  const disk = parseFcDirectory(name)
  if (disk === undefined) throw unconfirmed(said('IdentityUnconfirmed.noWwn', { name }))
  const mounted = mountedDisks(facts)
  const linked = linkedDisks(disk, blockTree)
  if (mounted.length === 0 && linked.length === 0) {
    const { devices, mounted: unmounted } = facts.record
    // Somebody else has unmounted a mount of the plan: it is unknown whether its disks were removed as well.
    if (devices.size > 0 && unmounted.size === 0) {
      throw new StepFailed(said('IdentityUnconfirmed.gone', { directory, devices: [...devices.keys()].join(', ') }), {
        hint: 'Plan again: the new plan finds what is left.',
      })
    }
    const unlinked = blockTree.scsiDisks().find((each) => isOf(disk, each, blockTree))
    if (unlinked !== undefined) throw unconfirmed(said('IdentityUnconfirmed.unlinked', { unlinked, name }))
  }
  // If udev links the volume's disks, what was mounted must be one of these.
  const stranger = linked.length === 0 ? undefined : mounted.find((each) => !linked.includes(each))
  if (stranger !== undefined) throw foreign(said('ForeignDevice.stranger', { stranger, name }))
  const seen = seeDisks(mounted.length > 0 ? mounted : linked, facts.host)
  const doubtful = seen.find((each) => !isOf(disk, each.name, blockTree))
  if (doubtful !== undefined) throw unconfirmed(said('IdentityUnconfirmed.sysfs', { disk: doubtful.name, name }))
  return seen
}

/** True if sysfs shows that the disk is the volume's: a link of udev may be stale. */
function isOf(disk: FcDisk, name: string, blockTree: BlockTree): boolean {
  const address = blockTree.node(name)?.scsiAddress
  const port = address === undefined || disk.wwns === undefined ? undefined : blockTree.fcPort(address)
  const wwid = disk.wwids === undefined ? undefined : blockTree.wwid(name)
  return isFcDisk(disk, { lun: address?.split(':')[3], port, wwid })
}

function unconfirmed(finding: Finding<'IdentityUnconfirmed'>): StepFailed {
  return new StepFailed(finding, {
    hint: marked(
      'Compare `lsblk -S -o NAME,HCTL,WWN` and `ls -l /dev/disk/by-path /dev/disk/by-id`; plan again when udev is done: the directory is kept.',
    ),
  })
}

/** The SCSI disks that udev's links name exactly; for a multipath map, its paths. */
function linkedDisks(disk: FcDisk, blockTree: BlockTree): string[] {
  return (['by-path', 'by-id'] as const).flatMap((directory) =>
    blockTree
      .links(directory)
      .flatMap(({ link, name }) => (isFcLink(disk, directory, link) ? disksBehind(name, blockTree) : [])),
  )
}

// iSCSI.

/**
 * @returns undefined if the directory is gone: then everything is done (P76)
 * @throws StepFailed UnexpectedFile, IdentityUnconfirmed, ForeignDevice, IscsiFailed: a person must look
 */
export async function iscsiVolume(directory: string, facts: MachineFacts): Promise<IscsiVolume | undefined> {
  requireUnmounted(directory, facts)
  const disk = recordedDisk(directory, facts.host)
  return disk && recordedVolume(disk, directory, facts)
}

/** The same, as it is now, of a record that has been read: a log-out that is begun goes on if its directory is gone meanwhile. */
export async function recordedVolume(
  disk: IscsiVolume['disk'],
  directory: string,
  facts: MachineFacts,
): Promise<IscsiVolume> {
  const wanted = disk.portals.map(withPort)
  const ofTarget = facts.host.blockTree.iscsiSessions().filter((session) => isThrough(session, disk))
  const sessions = ofTarget.filter(({ portals }) => portals.some((portal) => wanted.includes(withPort(portal))))
  const others = ofTarget.filter((session) => !sessions.includes(session))
  const unclear = others.find((session) => !isElsewhere(session, wanted))
  if (unclear !== undefined)
    throw byHand(
      directory,
      said('IscsiFailed.otherPortal', {
        name: unclear.name,
        portals: unclear.portals.join(', ') || 'an unknown portal',
        wanted: disk.portals.join(', '),
      }),
    )
  // A volume may have several portals, and the directory's name contains only one of them.
  const other = disk.byNameOnly ? others.find(({ luns }) => luns.some(({ lun }) => lun === disk.lun)) : undefined
  if (other !== undefined)
    throw byHand(
      directory,
      said('IdentityUnconfirmed.sameLun', { name: other.name, lun: disk.lun, portals: other.portals.join(', ') }),
    )
  const luns = sessions.flatMap((session) => session.luns)
  const namesOf = (isOwn: boolean): string[] =>
    luns.flatMap(({ lun, disks }) => ((lun === disk.lun) === isOwn ? disks : []))
  const [disks, otherDisks] = [seeDisks(namesOf(true), facts.host), seeDisks(namesOf(false), facts.host)]
  // The device that was mounted must be exactly this LUN, whatever the record says.
  const stranger = mountedDisks(facts).find((mounted) => !disks.some(({ name }) => name === mounted))
  if (stranger !== undefined)
    throw byHand(directory, said('ForeignDevice.otherLun', { device: stranger, lun: disk.lun, iqn: disk.iqn }))
  const user = await userOfDisks(
    namesOf(false),
    facts,
    luns.filter((each) => each.disks.length === 0),
  )
  const used = luns.find((each) => user !== undefined && [...each.disks, each.address].includes(user.disk))
  const sharedWith = user && `LUN ${used?.lun} of the same session is in use (${user.who})`
  return { directory, disk, sessions, disks, otherDisks, sharedWith }
}

/** Limit of the kubelet's record, in bytes; a real one has a few hundred. */
const MAX_RECORD = 64 * 1024

/** By iscsi.json; if that is lost or cut off, by the directory's name. */
function recordedDisk(directory: string, host: Host): IscsiVolume['disk'] | undefined {
  if (host.lstat(directory) === undefined) return undefined
  const file = `${directory}/iscsi.json`
  const found = host.lstat(file)
  if (found !== undefined && (found.type !== 'file' || found.size > MAX_RECORD)) {
    const what = found.type === 'file' ? `has ${found.size} bytes` : `is a ${found.type}`
    throw byHand(directory, said('UnexpectedFile.file', { file, fault: what }))
  }
  const recorded = found && parseIscsiJson(host.readSmallFile(file) ?? '')
  const disk = recorded ?? parseIscsiDirectory(directory)
  const iface = ifaceOf(directory)
  const isItsOwn = disk !== undefined && isDirectoryOf(disk, posix.basename(directory))
  if (isItsOwn && iface !== undefined && (disk.iface ?? iface) === iface)
    return { ...disk, iface, byNameOnly: recorded === undefined }
  if (disk === undefined) {
    const state = found === undefined ? 'missing' : 'not readable'
    throw byHand(directory, said('IdentityUnconfirmed.noPortal', { directory, state }))
  }
  const { iqn, lun, iface: own = 'no interface' } = disk
  throw byHand(directory, said('IdentityUnconfirmed.otherName', { file, iqn, lun, iface: own }))
}

/**
 * True for a session of this target and interface. Target names are compared whole: one that begins like this one is another target
 * (S25). A session whose interface is unknown may be one; other interfaces have their own directories.
 */
function isThrough({ iqn, iface }: IscsiSession, disk: IscsiVolume['disk']): boolean {
  return iqn === disk.iqn && (iface === undefined || iface === disk.iface)
}

/**
 * True if the session is certainly through another portal: two different addresses are two portals, a name and an address may
 * be one.
 */
function isElsewhere({ portals }: IscsiSession, wanted: readonly string[]): boolean {
  const isAddress = (portal: string): boolean => portal.startsWith('[') || /^\d+(?:\.\d+){3}:\d+$/.test(portal)
  return portals.length > 0 && [...portals, ...wanted].every(isAddress)
}

/** IPv6 in one spelling; the kubelet adds the port only if there is no colon at all (P72). */
function withPort(portal: string): string {
  const bracketed = /^\[([^\]]+)\](?::(\d+))?$/.exec(portal)
  if (bracketed === null) return portal.includes(':') ? portal : `${portal}:3260`
  const [, address = '', port = '3260'] = bracketed
  return `[${inOneSpelling(address)}]:${port}`
}

function byHand(directory: string, finding: Finding<FailureCode>): StepFailed {
  return new StepFailed(finding, {
    hint: `Look at ${directory} and at iscsiadm -m session -P 3; log out of what nothing uses (iscsiadm -m node -p PORTAL -T TARGET --logout); the directory and its record are kept.`,
  })
}
