/** The port Host on Linux: umount(8), losetup(8) and plain system calls. */
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
import { errnoOf } from '../base/errors.ts'
import { omitUndefined } from '../base/omit-undefined.ts'
import {
  deviceNumberOf,
  fileSystemLives,
  isSuperblockGone,
  mayBeMadeOf,
  readBackingFile,
  readDeviceNumber,
  readDeviceUse,
  readDiskSequence,
  readLoops,
} from '../linux/block/device-use.ts'
import { hiddenFileSystems, SysfsBlockTree } from '../linux/block/sysfs-block-tree.ts'
import { changeOwnership } from '../linux/change-ownership.ts'
import { deleteContent } from '../linux/delete-content.ts'
import { inDirectory } from '../linux/descriptors.ts'
import { askMounts } from '../linux/mount-asker.ts'
import { readOtherNamespaces } from '../linux/mount-namespaces.ts'
import { podUidsOfCgroup } from '../linux/pod-cgroups.ts'
import { writeStateFile } from '../linux/replace-file.ts'
import { kernelTextIfAny, namespaceOf } from '../trust/kernel.ts'
import { createNew, markEntry, NotPlain, readPlain, TooLarge } from '../trust/plain-files.ts'
import { isRootsProgram } from '../trust/processes.ts'
import { commandPath, runCommand } from '../trust/programs.ts'
import { askProcesses } from '../users/ask-processes.ts'
import { contentHolders } from '../users/content-holders.ts'
import { lookForUsers } from '../users/content-look.ts'
import { findHolders } from '../users/find-holders.ts'
import { follow, type View } from '../users/follow-links.ts'
import type { FoundFile, Host, UmountHow } from './host.ts'
import { changeOwnershipApart } from './ownership-apart.ts'
import { writeAtomically } from './write-atomically.ts'

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

export const linuxHost: Host = {
  umount: (paths, how, deadlineMs) => runCommand('umount', [...UMOUNT_OPTIONS[how], '--', ...paths], deadlineMs),
  run: (program, args, deadlineMs, input) => runCommand(program, args, deadlineMs, input),
  requireCommand: (program) => void commandPath(program),
  isInNodesNetwork: () => {
    const nodes = namespaceOf(1, 'net')
    return nodes === undefined || nodes === namespaceOf('self', 'net')
  },
  blockTree: new SysfsBlockTree(),
  releaseLoop: (device, deadlineMs) => runCommand('losetup', ['-d', device], deadlineMs),
  loopBackingFile: (device) => readBackingFile(device),
  mkdir: (path, mode) => mkdirSync(path, { mode }),
  chmod,
  createFile: (path, mode) => closeSync(createNew(path, mode)),
  symlink: (to, path) => symlinkSync(to, path),
  readLink,
  writeStateFile,
  rmdir: (path, directory) => removeAt(path, directory, rmdirSync),
  unlink: (path, directory) => removeAt(path, directory, unlinkSync),
  lstat: findFile,
  listTree,
  listNames,
  readSmallFile,
  deleteContent,
  changeOwnership: (path, options, apart) =>
    apart === undefined ? changeOwnership(path, options) : changeOwnershipApart(path, options, apart),
  writeAtomically,
  otherNamespaces: () => readOtherNamespaces(),
  askProcesses,
  findHolders,
  lookForUsers,
  contentHolders,
  deviceUse: (dev) => readDeviceUse(dev),
  isPathChecker: (pid) => isRootsProgram(pid, 'multipathd'),
  podsOf: (pid) => podUidsOfCgroup(kernelTextIfAny(`/proc/${pid}/cgroup`) ?? ''),
  diskSequence: readDiskSequence,
  deviceNumber: readDeviceNumber,
  loops: () => readLoops(),
  mayBeMadeOf,
  superblockGone: (dev, fsType) => isSuperblockGone(dev, fsType),
  fileSystemLives,
  hiddenFileSystems: (tables) => hiddenFileSystems(tables),

  isDead: async ({ id, mountPoint: path }, deadlineMs) =>
    (await askMounts(new Map([[id, path]]), ['%d'], deadlineMs)).get(id)?.error !== undefined,
}

/** By a descriptor: a link in the file's place is not followed, and no FIFO or device is opened. */
function chmod(path: string, mode: number): void {
  const fd = markEntry(path)
  try {
    if (fstatSync(fd).isSymbolicLink()) throw new Error(`${path} is a symbolic link`)
    chmodSync(`/proc/self/fd/${fd}`, mode)
  } finally {
    closeSync(fd)
  }
}

function removeAt(path: string, directory: string | undefined, remove: (path: string) => void): void {
  if (directory === undefined) remove(path)
  else inDirectory(directory, posix.basename(path), remove)
}

function findFile(path: string, view?: View): FoundFile | undefined {
  const entry = view === undefined ? lstatSync(path, { throwIfNoEntry: false }) : follow(view, path).file
  if (entry === undefined) return undefined
  const type = entry.isFile() ? 'file' : entry.isDirectory() ? 'dir' : entry.isSymbolicLink() ? 'link' : 'other'
  const { size, dev, ino, mtimeMs } = entry
  const device = deviceNumberOf(entry)
  return { type, size, id: { dev, ino, mtime: Math.floor(mtimeMs / 1000) }, ...omitUndefined({ device }) }
}

/** For directories in which nothing is mounted: the caller has checked the table. */
function listTree(path: string): string[] {
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    const child = `${path}/${entry.name}`
    return entry.isDirectory() ? [child, ...listTree(child)] : [child]
  })
}

function listNames(path: string): string[] {
  try {
    return readdirSync(path)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw error
  }
}

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
  try {
    return readlinkSync(path)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'EINVAL') return undefined
    throw error
  }
}
