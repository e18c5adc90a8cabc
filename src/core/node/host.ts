/** The kernel and the disk as apply uses them: the port through which it changes anything. */

import type { Undo } from '../base/undo.ts'
import type { BlockTree } from '../linux/block/block-tree.ts'
import type { DeviceUse } from '../linux/block/device-use.ts'
import type { HiddenFileSystem } from '../linux/block/sysfs-block-tree.ts'
import type { ChangeOwnershipOptions, OwnershipChange } from '../linux/change-ownership.ts'
import type { DeleteContentOptions, Deleted } from '../linux/delete-content.ts'
import type { OtherNamespace } from '../linux/mount-namespaces.ts'
import type { MountInfo, MountTable } from '../linux/mount-table.ts'
import type { CommandResult } from '../trust/programs.ts'
import type { ProcessReader, ProcessSearch } from '../users/ask-processes.ts'
import type { Content } from '../users/content-holders.ts'
import type { ContentLook, ContentSearch } from '../users/content-look.ts'
import type { HolderSearch, Holders } from '../users/find-holders.ts'
import type { View } from '../users/follow-links.ts'
import type { Uses } from '../users/uses.ts'
import type { Apart } from './ownership-apart.ts'
import type { AtomicContent } from './write-atomically.ts'

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

export interface Host {
  umount(paths: readonly string[], how: UmountHow, deadlineMs: number): Promise<CommandResult>
  releaseLoop(device: string, deadlineMs: number): Promise<CommandResult>
  /**
   * Runs a program, by name or by absolute path, to its end or its deadline; never through a shell (P161).
   *
   * @param input its standard input; default: empty
   */
  run(program: string, args: readonly string[], deadlineMs: number, input?: string): Promise<CommandResult>
  /** @throws VolctlError CommandMissing where `run` would not find this program */
  requireCommand(program: string): void
  /** False if PID 1 is in another network namespace. One that may not be read counts as ours: there volctl only reads (S7). */
  isInNodesNetwork(): boolean
  /** Undefined: the device is not bound to a file. */
  loopBackingFile(device: string): string | undefined
  /** True if the mount is dead; a child with a deadline asks. */
  isDead(mount: Pick<MountInfo, 'id' | 'mountPoint'>, deadlineMs: number): Promise<boolean>
  /** One directory; EEXIST if the path exists. */
  mkdir(path: string, mode: number): void
  /** Never follows a link. */
  chmod(path: string, mode: number): void
  /** A new, empty file; EEXIST if the path exists. */
  createFile(path: string, mode: number): void
  /** EEXIST if the path exists. */
  symlink(to: string, path: string): void
  /** Undefined: no link is there. */
  readLink(path: string): string | undefined
  /**
   * Writes a state file, which is on the disk when this returns. No link in its place is followed; an existing file is
   * replaced as a whole.
   */
  writeStateFile(path: string, text: string): void
  /** @param directory where its parent is, without links: what has taken its place meanwhile is not followed */
  rmdir(path: string, directory?: string): void
  /** @param directory as for rmdir */
  unlink(path: string, directory?: string): void
  /**
   * Undefined: nothing there. Never follows a link.
   *
   * @param view a mount namespace in which the path may be anybody's (S36): links are followed there, and what could hang is not asked
   */
  lstat(path: string, view?: View): FoundFile | undefined
  /** Names and types below a directory, links not followed; the directory itself is not among them. */
  listTree(path: string): readonly string[]
  /** Names in a directory; none where there is no such directory. */
  listNames(path: string): readonly string[]
  /** A small file's text; undefined: not there. */
  readSmallFile(path: string): string | undefined
  deleteContent(path: string, options: DeleteContentOptions): Promise<Deleted>
  /** @param apart in a child process, which can be abandoned: for a file system that may hang */
  changeOwnership(path: string, options: ChangeOwnershipOptions, apart?: Apart): Promise<OwnershipChange>
  /** @returns how to undo it @throws StepFailed; then the previous content is still shown */
  writeAtomically(path: string, content: AtomicContent): Promise<readonly Undo[]>
  otherNamespaces(): readonly OtherNamespace[]
  /** What processes use of some file systems and devices, and what could not be seen. */
  askProcesses(search: ProcessSearch, reader: ProcessReader): Promise<Uses>
  /** Everything that holds the places open, loops and other namespaces included, and what could not be seen. */
  findHolders(search: HolderSearch): Holders
  /** One look for everybody who may use the content of directories on these file systems. */
  lookForUsers(search: ContentSearch): Promise<ContentLook>
  /** Everybody who uses a directory's content, by such a look. */
  contentHolders(look: ContentLook, content: Content): Promise<Holders>
  /** What still uses a block device ("major:minor"); empty: nothing. */
  deviceUse(dev: string): DeviceUse
  readonly blockTree: BlockTree
  /** True for root's own multipathd, which keeps every path of a map open to test it, and closes them unasked. */
  isPathChecker(pid: number): boolean
  /** UIDs of the pods that a process belongs to, by its cgroup: several where pods are nested. */
  podsOf(pid: number): readonly string[]
  /** The kernel's number for the disk behind a device, never given twice in one boot; undefined before Linux 5.15. */
  diskSequence(dev: string): string | undefined
  /** "major:minor" of a device node; undefined: the path is not one. */
  deviceNumber(path: string): string | undefined
  /** Names and backing files of loop devices. */
  loops(): readonly { readonly device: string; readonly backingFile: string }[]
  /** False if, by the sizes, the loop device cannot cover the whole of this block device ("major:minor"). */
  mayBeMadeOf(loop: string, dev: string): boolean
  /** True if the kernel shows that the superblock of a lazily detached file system is gone. */
  superblockGone(dev: string, fsType: string): boolean
  /** True if the kernel lists the file system with this number ("0:52") as alive; also false if there is no such list. */
  fileSystemLives(dev: string, fsType: string): boolean
  /** File systems on block devices that none of these tables shows. */
  hiddenFileSystems(tables: readonly MountTable[]): readonly HiddenFileSystem[]
}
