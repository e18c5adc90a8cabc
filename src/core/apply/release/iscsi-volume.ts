/** Found out before anything is released: the LUN of a global directory, its sessions, and who else needs them (P76, S25). */
import { posix } from 'node:path'
import { StepFailed } from '../../base/operation-error.ts'
import type { IscsiLun, IscsiSession } from '../../linux/block/sysfs-block-tree.ts'
import { usersOfDisks } from '../../rules/disk-users.ts'
import { describeMount } from '../../rules/expected-mounts.ts'
import { type IscsiDisk, ifaceOf, isDirectoryOf, parseIscsiDirectory, parseIscsiJson } from '../../volumes/iscsi.ts'
import { mountedDisks, type SeenDisk, seeDisks } from '../disks/remove-disks.ts'
import type { StepContext } from '../operation/ports.ts'

/** A LUN, and the interface in its directory's name. */
export interface RecordedDisk extends IscsiDisk {
  readonly iface: string
  /** The kubelet's record is lost, so only the first of several portals is known. */
  readonly byNameOnly: boolean
}

/** Limit of the kubelet's record, in bytes; a real one has a few hundred. */
const MAX_RECORD = 64 * 1024

/**
 * The LUN by iscsi.json, which the mount has hidden until now; if that is lost or cut off, by the directory's name.
 *
 * @returns undefined if the directory is gone: then everything is done (P76)
 * @throws StepFailed UnexpectedFile, IdentityUnconfirmed: a person must look
 */
export function readIscsiDisk(directory: string, { around, host }: StepContext): RecordedDisk | undefined {
  const mount = around.table.at(directory).at(-1)
  if (mount !== undefined) throw new StepFailed('HeldBy', `${describeMount(mount)} is still there`)
  if (host.lstat(directory) === undefined) return undefined
  const file = `${directory}/iscsi.json`
  const found = host.lstat(file)
  if (found !== undefined && (found.type !== 'file' || found.size > MAX_RECORD)) {
    const what = found.type === 'file' ? `has ${found.size} bytes` : `is a ${found.type}`
    throw new StepFailed('UnexpectedFile', `${file} ${what}, so the kubelet did not make it`, {
      hint: byHand(directory),
    })
  }
  const record = found === undefined ? undefined : parseIscsiJson(host.readSmallFile(file) ?? '')
  const name = posix.basename(directory)
  const recorded = record !== undefined && 'disk' in record ? record.disk : undefined
  const disk = recorded ?? parseIscsiDirectory(directory)
  const iface = ifaceOf(directory)
  if (disk !== undefined && isDirectoryOf(disk, name) && iface !== undefined && (disk.iface ?? iface) === iface)
    return { ...disk, iface, byNameOnly: recorded === undefined }
  const why =
    disk === undefined
      ? `${directory} does not name a portal, a target and a LUN, and its iscsi.json is ${record === undefined ? 'missing' : 'not readable'}`
      : `${file} names ${disk.iqn}, LUN ${disk.lun}, through ${disk.iface ?? 'no interface'}, but its directory has another name`
  throw new StepFailed('IdentityUnconfirmed', why, { hint: byHand(directory) })
}

export interface IscsiVolume {
  readonly disk: RecordedDisk
  /** Sessions of exactly this target, through one of its portals and its interface: what a log-out ends (P76). */
  readonly sessions: readonly IscsiSession[]
  /** Disks of this LUN. */
  readonly disks: readonly SeenDisk[]
  /** Disks of the other LUNs, which disappear when the sessions are ended. */
  readonly otherDisks: readonly SeenDisk[]
  /** Why session and devices must be kept: somebody uses another LUN of the session. */
  readonly sharedWith: string | undefined
}

/** @throws StepFailed IscsiFailed if a session of the target may or may not be this volume's */
export async function lookAtIscsi(disk: RecordedDisk, directory: string, run: StepContext): Promise<IscsiVolume> {
  const sessions = sessionsOf(disk, directory, run)
  const luns = sessions.flatMap((session) => session.luns)
  const others = luns.filter(({ lun }) => lun !== disk.lun)
  const disksOf = (some: readonly IscsiLun[]): SeenDisk[] =>
    seeDisks(
      some.flatMap((each) => each.disks),
      run,
      sessions,
    )
  const disks = disksOf(luns.filter(({ lun }) => lun === disk.lun))
  const otherDisks = disksOf(others)
  requireMountedThere(disks, disk, directory, run)
  const [user] = await usersOfDisks(
    others.flatMap((each) => each.disks),
    run,
    luns.filter((each) => each.disks.length === 0),
  )
  const used = luns.find(({ disks, address }) => user !== undefined && [...disks, address].includes(user.disk))
  const sharedWith = user === undefined ? undefined : `LUN ${used?.lun} of the same session is in use (${user.who})`
  return { disk, sessions, disks, otherDisks, sharedWith }
}

/** The device that was mounted must be exactly this LUN, whatever the record says. @throws StepFailed ForeignDevice */
function requireMountedThere(disks: readonly SeenDisk[], disk: IscsiDisk, directory: string, run: StepContext): void {
  const stranger = [...mountedDisks(run)].find((mounted) => !disks.some(({ name }) => name === mounted))
  if (stranger === undefined) return
  throw new StepFailed('ForeignDevice', `${stranger} was mounted, but is not LUN ${disk.lun} of ${disk.iqn}`, {
    hint: byHand(directory),
  })
}

/** The sessions of the volume. Target names are compared whole: one that begins like this one is another target (S25). */
function sessionsOf(disk: RecordedDisk, directory: string, { host }: StepContext): IscsiSession[] {
  const wanted = new Set(disk.portals.map(withPort))
  const ofTarget = host.blockTree.iscsiSessions().filter((session) => isThrough(session, disk))
  const mine = ofTarget.filter(({ portals }) => portals.some((portal) => wanted.has(withPort(portal))))
  const unclear = ofTarget.find((session) => !mine.includes(session) && !isElsewhere(session, [...wanted]))
  if (unclear === undefined) {
    requireNoOtherPath(ofTarget, mine, disk, directory)
    return mine
  }
  throw new StepFailed(
    'IscsiFailed',
    `${unclear.name} is a session of the same target through ${unclear.portals.join(', ') || 'an unknown portal'}, which may or may not be ${disk.portals.join(', ')}`,
    { hint: byHand(directory) },
  )
}

/**
 * True for a session of this target and interface. A session whose interface is unknown may be one; other interfaces have
 * their own directories.
 */
function isThrough({ iqn, iface }: IscsiSession, disk: RecordedDisk): boolean {
  return iqn === disk.iqn && (iface === undefined || iface === disk.iface)
}

/**
 * A volume may have several portals, and the directory's name contains only one of them. @throws StepFailed
 * IdentityUnconfirmed
 */
function requireNoOtherPath(
  ofTarget: readonly IscsiSession[],
  mine: readonly IscsiSession[],
  disk: RecordedDisk,
  directory: string,
): void {
  if (!disk.byNameOnly) return
  const other = ofTarget.find((each) => !mine.includes(each) && each.luns.some(({ lun }) => lun === disk.lun))
  if (other === undefined) return
  throw new StepFailed(
    'IdentityUnconfirmed',
    `${other.name} has LUN ${disk.lun} of the same target through ${other.portals.join(', ')}; without a readable iscsi.json it is unknown whether that is this volume's session too`,
    { hint: byHand(directory) },
  )
}

/**
 * True if the session is certainly through another portal: two different addresses are two portals, a name and an address may
 * be one.
 */
function isElsewhere({ portals }: IscsiSession, wanted: readonly string[]): boolean {
  return portals.length > 0 && [...portals, ...wanted].every(isAddress)
}

function isAddress(portal: string): boolean {
  return portal.startsWith('[') || /^\d+(?:\.\d+){3}:\d+$/.test(portal)
}

/** IPv6 in one spelling; the kubelet adds the port only if there is no colon at all (P72). */
function withPort(portal: string): string {
  const bracketed = /^\[([^\]]+)\](?::(\d+))?$/.exec(portal)
  if (bracketed === null) return portal.includes(':') ? portal : `${portal}:3260`
  const [, address = '', port = '3260'] = bracketed
  try {
    return `${new URL(`http://[${address}]`).hostname}:${port}`
  } catch {
    return `[${address}]:${port}`
  }
}

function byHand(directory: string): string {
  return `Look at ${directory} and at iscsiadm -m session -P 3; log out of what nothing uses (iscsiadm -m node -p PORTAL -T TARGET --logout); the directory and its record are kept.`
}
