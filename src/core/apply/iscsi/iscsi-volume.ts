/** Which LUN a global directory is of, its sessions, and who else needs them: the look before anything is released (P76, S25). */
import { posix } from 'node:path'
import type { IscsiLun, IscsiSession } from '../../block/block-tree.ts'
import { StepFailed } from '../../errors/operation-error.ts'
import { type IscsiDisk, ifaceOf, isDirectoryOf, parseIscsiDirectory, parseIscsiJson } from '../../names/iscsi-disk.ts'
import { usersOfDisks } from '../disks/disk-users.ts'
import { mountedDisks } from '../disks/mounted-disks.ts'
import { describeMount } from '../operation/expected-mounts.ts'
import { type SeenDisk, seeDisks } from '../operation/seen-disks.ts'
import type { StepContext } from '../operation/step-context.ts'

/** A LUN through exactly the interface of its directory. */
export interface RecordedDisk extends IscsiDisk {
  readonly iface: string
  /** The kubelet's record is lost: of several portals only the first one is known. */
  readonly byNameOnly: boolean
}

/** The kubelet's record has some hundred bytes; what is larger is not its own. */
const MAX_RECORD = 64 * 1024

/**
 * By iscsi.json, which lay hidden below the mount until now; where it is lost or was cut off, by the directory's name.
 *
 * @returns undefined where the directory is gone: then all is done (P76)
 * @throws StepFailed UnexpectedFile, IdentityUnconfirmed: what tells nothing certain is looked at by a person
 */
export function readIscsiDisk(directory: string, { around, host }: StepContext): RecordedDisk | undefined {
  const mount = around.table.at(directory).at(-1)
  if (mount !== undefined) throw new StepFailed('StillMounted', `${describeMount(mount)} is still there`)
  if (host.lstat(directory) === undefined) return undefined
  const file = `${directory}/iscsi.json`
  const found = host.lstat(file)
  if (found !== undefined && (found.type !== 'file' || found.size > MAX_RECORD)) {
    const what = found.type === 'file' ? `has ${found.size} bytes` : `is a ${found.type}`
    throw new StepFailed('UnexpectedFile', `${file} ${what}: the kubelet did not make it`, { hint: byHand(directory) })
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
      ? `${directory} does not name a portal, a target and a LUN, and its iscsi.json ${record === undefined ? 'is missing' : 'tells nothing'}`
      : `${file} is of ${disk.iqn}, LUN ${disk.lun}, through ${disk.iface ?? 'no interface'}, and its directory bears another name`
  throw new StepFailed('IdentityUnconfirmed', why, { hint: byHand(directory) })
}

export interface IscsiVolume {
  readonly disk: RecordedDisk
  /** Those of exactly this target through exactly one of its portals and its interface: what a log-out ends (P76). */
  readonly sessions: readonly IscsiSession[]
  /** Those of this LUN. */
  readonly disks: readonly SeenDisk[]
  /** Those of the other LUNs, which go with the sessions that are ended. */
  readonly otherDisks: readonly SeenDisk[]
  /** Why session and devices have to stay: somebody uses another LUN of it. */
  readonly sharedWith: string | undefined
}

/** @throws StepFailed SessionUnknown where a session of the target can't be told to be this volume's or not */
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

/** What was mounted must be this very LUN, whatever the record says. @throws StepFailed ForeignDevice */
function requireMountedThere(disks: readonly SeenDisk[], disk: IscsiDisk, directory: string, run: StepContext): void {
  const stranger = [...mountedDisks(run)].find((mounted) => !disks.some(({ name }) => name === mounted))
  if (stranger === undefined) return
  throw new StepFailed('ForeignDevice', `${stranger}, which was mounted, is not LUN ${disk.lun} of ${disk.iqn}`, {
    hint: byHand(directory),
  })
}

/** Names are compared whole: a target whose name begins like this one's is another (S25). */
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
    'SessionUnknown',
    `${unclear.name} is of the same target, through ${unclear.portals.join(', ') || 'an unknown portal'}; whether that is ${disk.portals.join(', ')} cannot be told`,
    { hint: byHand(directory) },
  )
}

/** Of another interface there is another directory; a session that names none may be through any. */
export function isThrough({ iqn, iface }: IscsiSession, disk: Pick<RecordedDisk, 'iqn' | 'iface'>): boolean {
  return iqn === disk.iqn && (iface === undefined || iface === disk.iface)
}

/** A volume may have several portals, of which the directory's name has one. @throws StepFailed IdentityUnconfirmed */
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
    `${other.name} has LUN ${disk.lun} of the same target through ${other.portals.join(', ')}; without a readable iscsi.json it cannot be told whether it is the volume's too`,
    { hint: byHand(directory) },
  )
}

/** Two addresses that differ are two portals; a name and an address may be one. */
function isElsewhere({ portals }: IscsiSession, wanted: readonly string[]): boolean {
  return portals.length > 0 && [...portals, ...wanted].every(isAddress)
}

function isAddress(portal: string): boolean {
  return portal.startsWith('[') || /^\d+(?:\.\d+){3}:\d+$/.test(portal)
}

/** IPv6 in one spelling; the kubelet adds the port only where there is no colon at all (P72). */
export function withPort(portal: string): string {
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
  return `Look at ${directory} and at iscsiadm -m session -P 3; log out of what nothing uses (iscsiadm -m node -p PORTAL -T TARGET --logout), then remove iscsi.json and the directory.`
}
