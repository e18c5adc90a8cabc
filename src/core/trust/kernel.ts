/**
 * Reads /proc and /sys. Nobody else can write there, and no read hangs. Missing files and files that may not be read are
 * normal. Not for paths on a disk: those go through files.ts and plain-files.ts.
 */
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync, statfsSync, statSync } from 'node:fs'
import { closing } from '../messages/findings.ts'

/** A small file's text, trimmed. */
export function kernelTextIfAny(path: string): string | undefined {
  return ifAny(() => readFileSync(path, 'utf8').trim())
}

/** The kernel's number for the type of the file system that a directory of /proc or /sys shows. */
export function fileSystemTypeIfAny(path: string): number | undefined {
  return ifAny(() => statfsSync(path).type)
}

/** A file's text as it is. @throws what the file system says */
export function kernelText(path: string, encoding: 'utf8' | 'latin1' = 'utf8'): string {
  return readFileSync(path, encoding)
}

/**
 * A long file's bytes, in pieces of whole lines. Each is overwritten by the next.
 *
 * @throws what the file system says
 */
export function* linesInPieces(path: string): Iterable<Buffer> {
  const fd = openSync(path, 'r')
  try {
    let buffer = Buffer.allocUnsafeSlow(PIECE)
    for (let length = 0; ; ) {
      const read = readSync(fd, buffer, length, buffer.length - length, null)
      length += read
      if (read > 0 && length < buffer.length) continue
      const end = read === 0 ? length : buffer.lastIndexOf(NEWLINE) + 1
      if (end > 0) yield buffer.subarray(0, end)
      if (read === 0) return
      // A line that is longer.
      if (end === 0) buffer = Buffer.concat([buffer, Buffer.allocUnsafeSlow(length)])
      buffer.copyWithin(0, end, length)
      length -= end
    }
  } finally {
    closeSync(fd)
  }
}

/** Bytes of a piece of a long file. */
const PIECE = 256 * 1024
const NEWLINE = 0x0a

/**
 * Undoes the kernel's escapes in its tables of paths: `\040` blank, `\011` tab, `\012` newline, `\134` backslash, `\043` hash.
 *
 * Escapes stand for bytes, not characters, so they are decoded to bytes first and then to text (UTF-8), exactly once, after
 * the line has been split (P109). A backslash without three octal digits behind it is left as it is.
 *
 * @see fs/proc_namespace.c mangle(), fs/seq_file.c
 */
export function decodeOctal(raw: string): string {
  if (!raw.includes('\\')) return raw
  const bytes = Buffer.from(raw)
    .toString('latin1')
    .replaceAll(/\\([0-3][0-7]{2})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
  return Buffer.from(bytes, 'latin1').toString()
}

/** The mount id of a directory, which may be another process's root, by fdinfo; undefined where it may not be read. */
export function mountIdOf(directory: string): number | undefined {
  return ifAny(() => behindLink(directory, (_, fdinfo) => mountIdIn(fdinfo)))
}

/** Not among Node's constants. Such a descriptor marks a place without opening it: a FIFO does not block, a device does nothing. */
export const O_PATH = 0o10000000

/**
 * What a link in /proc leads to, by a descriptor, even if no table shows its mount any more. Nothing is opened (O_PATH).
 * Still, the call may hang on a dead server, so only a process that can be abandoned may make it.
 *
 * @param look is given the descriptor and its fdinfo
 * @throws what the file system says
 */
export function behindLink<T>(link: string, look: (fd: number, fdinfo: string) => T): T {
  return closing(openSync(link, O_PATH), (fd) => look(fd, readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')))
}

/** The mount id of a descriptor. @param fdinfo its text in /proc */
export function mountIdIn(fdinfo: string): number | undefined {
  const id = /^mnt_id:\s*(\d+)$/m.exec(fdinfo)?.[1]
  return id === undefined ? undefined : Number(id)
}

/**
 * A field of /proc/PID/status, trimmed; undefined where there is none. Only a newline ends a line: to a regular expression a
 * carriage return does as well, and a process may have one in its name, with any field behind it.
 */
export function statusField(status: string, name: string): string | undefined {
  const begin = `${name}:`
  const line = status.split('\n').find((each) => each.startsWith(begin))
  return line?.slice(begin.length).trim()
}

/** What stands behind the name in /proc/PID/stat, which may contain anything: state, parent, and so on. */
export function statFields(stat: string): readonly string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** "0 0 4294967295" in /proc/PID/uid_map: every uid is itself. */
export function isFullRange(uidMap: string): boolean {
  return /^\s*0\s+0\s+4294967295\s*$/.test(uidMap)
}

/** Names in a directory. */
export function listIfAny(directory: string): readonly string[] {
  return ifAny(() => readdirSync(directory)) ?? []
}

/** A link's target. */
export function linkIfAny(path: string): string | undefined {
  return ifAny(() => readlinkSync(path))
}

export function processIds(proc = '/proc'): number[] {
  return readdirSync(proc)
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

/** By device and inode, links followed. @throws what the file system says */
export function isSameFile(one: string, other: string): boolean {
  const [left, right] = [one, other].map((path) => statSync(path))
  return left?.dev === right?.dev && left?.ino === right?.ino
}

/** 0: unknown. @param status the text of its /proc/PID/status */
export function parentIn(status: string): number {
  return Number(statusField(status, 'PPid') ?? 0)
}

type Namespace = 'mnt' | 'net' | 'pid' | 'user'

/** Which namespace a process is in: `mnt:[4026531841]`. */
export function namespaceOf(pid: number | 'self', kind: Namespace, proc = '/proc'): string | undefined {
  return linkIfAny(`${proc}/${pid}/ns/${kind}`)
}

const IN_MEMORY = ['tmpfs', 'ramfs', 'devtmpfs', 'hugetlbfs', 'proc', 'sysfs', 'cgroup', 'cgroup2']
const ON_DISKS = ['ext2', 'ext3', 'ext4', 'xfs', 'btrfs', 'zfs', 'f2fs', 'bcachefs', 'vfat', 'exfat']
const IMAGES = ['squashfs', 'erofs', 'iso9660']

/** Types of local file systems: calls on them do not wait for a server. All others may hang. */
const LOCAL = new Set([...IN_MEMORY, ...ON_DISKS, ...IMAGES, 'overlay'])

export function cannotHang(fsType: string): boolean {
  return LOCAL.has(fsType)
}

/** Whatever keeps it from being read. */
export function ifAny<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
