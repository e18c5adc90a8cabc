/** What still uses a block device, as the kernel shows it: a superblock, a holder, an opener (S21). */
import { closeSync, lstatSync, readlinkSync, type Stats } from 'node:fs'
import { posix } from 'node:path'
import { errnoOf } from '../../messages/findings.ts'
import { decodeOctal, fileSystemTypeIfAny, ifAny, kernelText, kernelTextIfAny, listIfAny } from '../../trust/kernel.ts'
import { openDeviceAlone } from '../../trust/plain-files.ts'
import { isThere, namesIn, textIn } from './sysfs-block-tree.ts'

/** A user that the kernel does not name. */
export const SOMEBODY = 'a process or a device'

const SUPERBLOCKS = ['ext4', 'xfs', 'btrfs', 'f2fs', 'bcachefs', 'gfs2']

/**
 * Who uses a block device, for messages; nobody where there is none (any more).
 *
 * @param dev "major:minor" @throws what cannot be read is not known to be unused (S3)
 */
export function deviceUsers(dev: string, sys = '/sys'): readonly string[] {
  const link = `${sys}/dev/block/${dev}`
  if (!isThere(link)) return []
  const name = posix.basename(readlinkSync(link))
  const users = SUPERBLOCKS.filter((type) => isThere(`${sys}/fs/${type}/${name}`)).map(
    (type) => `the ${type} file system on /dev/${name.replaceAll('!', '/')}, which is still mounted or has open files`,
  )
  for (const holder of namesIn(`${link}/holders`)) users.push(`device ${holder}`)
  // A kernel without swap has no such list.
  const isSwap = swapAreas(textIn('/proc/swaps') ?? '').some((area) => area.name === `/dev/${name}`)
  if (isSwap) users.push(`the kernel, which swaps to /dev/${name}`)
  const busy = openExclusively(`${link}/uevent`)
  if (busy !== undefined) users.push(busy)
  return users
}

/** An exclusive open fails as long as a mount, a mapping or another exclusive opener has the device. */
function openExclusively(uevent: string): string | undefined {
  const name = /^DEVNAME=(.+)$/m.exec(kernelText(uevent))?.[1]
  if (name === undefined) return 'a device without a name'
  try {
    closeSync(openDeviceAlone(`/dev/${name}`))
    return undefined
  } catch (error) {
    const code = errnoOf(error)
    // No device node, no medium, no such device: the device cannot be in use under this name.
    if (code === 'ENOENT' || code === 'ENXIO' || code === 'ENODEV' || code === 'ENOMEDIUM') return undefined
    return code === 'EBUSY'
      ? `${SOMEBODY} that has /dev/${name} open exclusively`
      : `/dev/${name} could not be opened (${code})`
  }
}

/** The disk's sequence number; a partition has that of its disk, one directory up. */
export function readDiskSequence(dev: string): string | undefined {
  const device = `/sys/dev/block/${dev}`
  return kernelTextIfAny(`${device}/diskseq`) ?? kernelTextIfAny(`${device}/../diskseq`)
}

export function readDeviceNumber(path: string): string | undefined {
  return ifAny(() => deviceNumberOf(lstatSync(path)))
}

/** "major:minor"; undefined: it is no block device. */
export function deviceNumberOf(entry: Stats): string | undefined {
  return entry.isBlockDevice() ? deviceNumberFrom(entry.rdev) : undefined
}

/** "major:minor" of a block device, "char major:minor" of a character device. */
export function anyDeviceNumberOf(entry: Stats): string | undefined {
  return entry.isCharacterDevice() ? `char ${deviceNumberFrom(entry.rdev)}` : deviceNumberOf(entry)
}

/** "major:minor" from the encoded number of stat(2), st_dev or st_rdev. */
export function deviceNumberFrom(encoded: number): string {
  const bits = BigInt(encoded)
  const major = ((bits >> 8n) & 0xfffn) | ((bits >> 32n) & ~0xfffn)
  const minor = (bits & 0xffn) | ((bits >> 12n) & ~0xffn)
  return `${major}:${minor}`
}

export function readLoops(sys = '/sys') {
  return namesIn(`${sys}/block`).flatMap((name) => {
    const backingFile = name.startsWith('loop') ? readBackingFile(`/dev/${name}`, sys) : undefined
    return backingFile === undefined ? [] : [{ device: `/dev/${name}`, backingFile }]
  })
}

const SECTOR = 512

/**
 * A loop device has the size of its backing file less its offset, or is shorter if it has a size limit. Where a size cannot
 * be read, the answer is true.
 *
 * @param loop e.g. /dev/loop3
 * @param dev "major:minor"
 */
export function mayBeMadeOf(loop: string, dev: string): boolean {
  const at = `/sys/block/${posix.basename(loop)}`
  const [size, offset, limit] = ['size', 'loop/offset', 'loop/sizelimit'].map((each) => numberIn(`${at}/${each}`))
  const whole = numberIn(`/sys/dev/block/${dev}/size`)
  if (size === undefined || offset === undefined || limit === undefined || whole === undefined) return true
  const end = size + Math.ceil(offset / SECTOR)
  return limit > 0 ? end <= whole : Math.abs(end - whole) <= 1
}

function numberIn(file: string): number | undefined {
  const text = kernelTextIfAny(file)
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined
}

/** @returns `/`, which nobody can identify: there is one, and the kernel does not say (S3); undefined: there is none */
export function readBackingFile(device: string, sys = '/sys'): string | undefined {
  const loop = `${sys}/block/${posix.basename(device)}/loop`
  try {
    // Most are free, and an error costs much more than this question.
    return isThere(loop) ? textIn(`${loop}/backing_file`) : undefined
  } catch {
    return '/'
  }
}

/**
 * True for a FUSE connection or a local file system that sysfs no longer lists; false for all others: nothing is known about
 * them.
 */
export function isSuperblockGone(dev: string, fsType: string, sys = '/sys'): boolean {
  if (fsType.startsWith('fuse')) return hasConnection(dev, sys) === false
  // The number of btrfs and bcachefs is no device's, so no list says anything about it.
  if (!SUPERBLOCKS.includes(fsType) || dev.startsWith('0:')) return false
  return deviceUsers(dev, sys).length === 0
}

const FUSECTL_MAGIC = 0x65735543

/** Whether the kernel lists the FUSE connection of a file system; undefined: there may be no list, as fusectl is not mounted there. */
function hasConnection(dev: string, sys: string): boolean | undefined {
  const connections = `${sys}/fs/fuse/connections`
  const [major, minor] = dev.split(':')
  if (major !== '0') return undefined
  // Before the connection: what is not in a list that is mounted only afterwards shows nothing (S3).
  const isListed = listIfAny(connections).length > 0 || fileSystemTypeIfAny(connections) === FUSECTL_MAGIC
  if (isThere(`${connections}/${minor}`)) return true
  return isListed ? false : undefined
}

/**
 * True if the kernel's list of FUSE connections, or of NFS file systems, contains it. (The latter is the list of this network
 * namespace: a file system that is not in it may still be alive.)
 */
export function fileSystemLives(dev: string, fsType: string): boolean {
  if (fsType.startsWith('fuse')) return hasConnection(dev, '/sys') === true
  if (!fsType.startsWith('nfs')) return false
  // NV SERVER PORT DEV FSID FSC
  const lines = kernelTextIfAny('/proc/fs/nfsfs/volumes')?.split('\n').slice(1) ?? []
  return lines.some((line) => line.trim().split(/\s+/)[3] === dev)
}

// What the machine swaps to.

/**
 * @param text of /proc/swaps (proc(5)): a heading, then one line per area
 * @returns the type, `partition` or `file`, and the name: a partition's device file, or a file's path from the root of the mount
 * namespace in which it was opened
 */
export function swapAreas(text: string) {
  return text.split('\n').flatMap((line) => {
    const [name = '', type = ''] = line.split(/[ \t]+/)
    return name.startsWith('/') ? [{ name: decodeOctal(name), type }] : []
  })
}

/**
 * Every loop device that has a backing file (C19), from sysfs; nothing is opened. The kernel shows the path as seen in this
 * mount namespace; "/" or a text ending in " (deleted)" means that the file is not visible any more.
 *
 * @param sys of a fixture
 */
export function loopDevices(sys = '/sys') {
  const number = (name: string): number => Number(name.slice('/dev/loop'.length))
  return readLoops(sys)
    .map(({ device, backingFile }) => ({ name: device, backingFile }))
    .toSorted((one, other) => number(one.name) - number(other.name))
}
