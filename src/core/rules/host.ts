/** The kernel and the disk of Linux as apply uses them: by umount(8), losetup(8) and plain system calls. */
import {
  chmodSync,
  closeSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs'
import { posix } from 'node:path'
import {
  deviceNumberOf,
  deviceUsers,
  fileSystemLives,
  isSuperblockGone,
  mayBeMadeOf,
  readBackingFile,
  readDeviceNumber,
  readDiskSequence,
  readLoops,
} from '../linux/block/device-use.ts'
import { hiddenFileSystems, sysfsBlockTree } from '../linux/block/sysfs-block-tree.ts'
import { deleteContent } from '../linux/delete-content.ts'
import { inDirectory, writeStateFile } from '../linux/descriptors.ts'
import { follow, type View } from '../linux/follow-links.ts'
import { askMounts } from '../linux/mount-asker.ts'
import { readOtherNamespaces } from '../linux/mount-namespaces.ts'
import type { MountInfo } from '../linux/mount-table.ts'
import { type ChangeOwnershipOptions, changeOwnership, type OwnershipChange } from '../linux/ownership.ts'
import { podUidsOfCgroup } from '../linux/pod-cgroups.ts'
import { allowing, closing, errnoOf } from '../messages/findings.ts'
import { type Apart, changeOwnershipApart } from '../node/ownership-apart.ts'
import { writeAtomically } from '../node/write-atomically.ts'
import { kernelTextIfAny, namespaceOf } from '../trust/kernel.ts'
import { createNew, markEntry, NotPlain, readPlain, TooLarge } from '../trust/plain-files.ts'
import { isRootsProgram } from '../trust/processes.ts'
import { commandPath, runCommand } from '../trust/programs.ts'
import { askProcesses } from '../users/ask-processes.ts'
import { contentHolders } from '../users/content-holders.ts'
import { lookForUsers } from '../users/content-look.ts'
import { findHolders } from '../users/find-holders.ts'

/** plain: many paths a call, for file systems that cannot hang; careful: `-i -c -n`, never touches the file system. */
export type UmountHow = 'plain' | 'careful' | 'force' | 'lazy'

export interface FoundFile {
  readonly type: 'file' | 'dir' | 'link' | 'other'
  readonly size: number
  /** Identifies the file; mtime in seconds since the epoch. */
  readonly id?: { readonly dev: number; readonly ino: number; readonly mtime: number }
  /** Of a block device: "major:minor". */
  readonly device?: string
}

/**
 * plain: none of -i -c -n -l -f, so that umount(8) opens each path and does not read the mount table for it.
 * careful: no helper, no canonicalisation, no statfs: nothing that a dead server would have to answer.
 */
const UMOUNT_OPTIONS: Readonly<Record<UmountHow, readonly string[]>> = {
  plain: [],
  careful: ['-i', '-c', '-n'],
  force: ['-i', '-c', '-n', '-f'],
  lazy: ['-i', '-c', '-n', '-l'],
}

const SMALL_FILE = 1 << 20

export const linuxHost = {
  umount: (paths: readonly string[], how: UmountHow, deadlineMs: number) =>
    runCommand('umount', [...UMOUNT_OPTIONS[how], '--', ...paths], deadlineMs),
  releaseLoop: (device: string, deadlineMs: number) => runCommand('losetup', ['-d', device], deadlineMs),
  /**
   * Runs a program, by name or by absolute path, to its end or its deadline; never through a shell (P161).
   *
   * @param input its standard input; default: empty
   */
  run: runCommand,
  /** @throws VolctlError CommandMissing where `run` would not find this program */
  requireCommand: (program: string): void => void commandPath(program),
  /** False if PID 1 is in another network namespace. One that may not be read counts as ours: there volctl only reads (S7). */
  isInNodesNetwork: (): boolean => {
    const nodes = namespaceOf(1, 'net')
    return nodes === undefined || nodes === namespaceOf('self', 'net')
  },
  /** Undefined: the device is not bound to a file. */
  loopBackingFile: readBackingFile,
  /** True if the mount is dead; a child with a deadline asks. */
  isDead: async (
    { id, mountPoint: path }: Pick<MountInfo, 'id' | 'mountPoint'>,
    deadlineMs: number,
  ): Promise<boolean> => (await askMounts(new Map([[id, path]]), ['%d'], deadlineMs)).get(id)?.error !== undefined,
  /** One directory; EEXIST if the path exists. */
  mkdir: (path: string, mode: number): void => void mkdirSync(path, { mode }),
  /** Never follows a link. */
  chmod,
  /** A new, empty file; EEXIST if the path exists. */
  createFile: (path: string, mode: number): void => closeSync(createNew(path, mode)),
  /** EEXIST if the path exists. */
  symlink: (to: string, path: string): void => symlinkSync(to, path),
  /** Undefined: no link is there. */
  readLink,
  /**
   * Writes a state file, which is on the disk when this returns. No link in its place is followed; an existing file is
   * replaced as a whole.
   */
  writeStateFile,
  /** @param directory where its parent is, without links: what has taken its place meanwhile is not followed */
  rmdir: (path: string, directory?: string): void => removeAt(path, directory, rmdirSync),
  /** @param directory as for rmdir */
  unlink: (path: string, directory?: string): void => removeAt(path, directory, unlinkSync),
  lstat: findFile,
  listTree,
  listNames,
  readSmallFile,
  deleteContent,
  /** @param apart in a child process, which can be abandoned: for a file system that may hang */
  changeOwnership: (path: string, options: ChangeOwnershipOptions, apart?: Apart): Promise<OwnershipChange> =>
    apart === undefined ? changeOwnership(path, options) : changeOwnershipApart(path, options, apart),
  /** @throws StepFailed; the previous content is still shown then, and what was made is to be undone */
  writeAtomically,
  otherNamespaces: readOtherNamespaces,
  /** What processes use of some file systems and devices, and what could not be seen. */
  askProcesses,
  /** Everything that holds the places open, loops and other namespaces included, and what could not be seen. */
  findHolders,
  /** One look for everybody who may use the content of directories on these file systems. */
  lookForUsers,
  /** Everybody who uses a directory's content, by such a look. */
  contentHolders,
  /** What still uses a block device ("major:minor"); empty: nothing. */
  deviceUsers,
  blockTree: sysfsBlockTree(),
  /** True for root's own multipathd, which keeps every path of a map open to test it, and closes them unasked. */
  isPathChecker: (pid: number) => isRootsProgram(pid, 'multipathd'),
  /** UIDs of the pods that a process belongs to, by its cgroup: several where pods are nested. */
  podsOf: (pid: number) => podUidsOfCgroup(kernelTextIfAny(`/proc/${pid}/cgroup`) ?? ''),
  /** The kernel's number for the disk behind a device, never given twice in one boot; undefined before Linux 5.15. */
  diskSequence: readDiskSequence,
  /** "major:minor" of a device node; undefined: the path is not one. */
  deviceNumber: readDeviceNumber,
  /** Names and backing files of loop devices. */
  loops: readLoops,
  /** False if, by the sizes, the loop device cannot cover the whole of this block device ("major:minor"). */
  mayBeMadeOf,
  /** True if the kernel shows that the superblock of a lazily detached file system is gone. */
  superblockGone: isSuperblockGone,
  /** True if the kernel lists the file system with this number ("0:52") as alive; also false if there is no such list. */
  fileSystemLives,
  /** File systems on block devices that none of these tables shows. */
  hiddenFileSystems,
}

/** The port through which apply changes anything: the machine's own, or a test's. */
export type Host = typeof linuxHost

/** By a descriptor: a link in the file's place is not followed, and no FIFO or device is opened. */
function chmod(path: string, mode: number): void {
  closing(markEntry(path), (fd) => {
    if (fstatSync(fd).isSymbolicLink()) throw new Error(`${path} is a symbolic link`)
    chmodSync(`/proc/self/fd/${fd}`, mode)
  })
}

/** What is gone is fine (R837). */
function removeAt(path: string, directory: string | undefined, remove: (path: string) => void): void {
  allowing(['ENOENT'], undefined, () =>
    directory === undefined ? remove(path) : inDirectory(directory, posix.basename(path), remove),
  )
}

/**
 * Undefined: nothing there. Never follows a link.
 *
 * @param view a mount namespace in which the path may be anybody's (S36): links are followed there, and what could hang is not asked
 */
function findFile(path: string, view?: View): FoundFile | undefined {
  const entry = view === undefined ? lstatSync(path, { throwIfNoEntry: false }) : follow(view, path).file
  if (entry === undefined) return undefined
  const type = entry.isFile() ? 'file' : entry.isDirectory() ? 'dir' : entry.isSymbolicLink() ? 'link' : 'other'
  const { size, dev, ino, mtimeMs } = entry
  const device = deviceNumberOf(entry)
  return { type, size, id: { dev, ino, mtime: Math.floor(mtimeMs / 1000) }, device }
}

/**
 * Names and types below a directory, links not followed; the directory itself is not among them. For directories in which nothing is
 * mounted: the caller has checked the table.
 */
function listTree(path: string): readonly string[] {
  // The `recursive` of Node.js follows links.
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    const child = `${path}/${entry.name}`
    return entry.isDirectory() ? [child, ...listTree(child)] : [child]
  })
}

/** Names in a directory; none where there is no such directory. */
function listNames(path: string): readonly string[] {
  return allowing(['ENOENT'], [], () => readdirSync(path))
}

/** A small file's text; undefined: not there. */
function readSmallFile(path: string): string | undefined {
  try {
    return readPlain(path, SMALL_FILE).toString('utf8')
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    if (error instanceof TooLarge || error instanceof NotPlain)
      throw new Error(`${path} is not a small file`, { cause: error })
    throw error
  }
}

function readLink(path: string): string | undefined {
  return allowing(['ENOENT', 'EINVAL'], undefined, () => readlinkSync(path))
}
