/** Finds loop devices on a disk, whatever name their backing file has here (S21, S25). */
import { posix } from 'node:path'
import { deviceNumberFrom } from '../../block/device-use.ts'
import type { OnDisk } from '../../block/whole-disk.ts'
import type { Host } from '../../host/host.ts'
import { undeletedPath } from '../../mountinfo/deleted.ts'
import { cannotHang } from '../../mountinfo/file-systems.ts'
import { containingMount } from '../../mountinfo/location.ts'
import type { MountTable } from '../../mountinfo/mount-table.ts'
import type { StepContext } from '../operation/step-context.ts'
import type { DiskUser } from './disk-user.ts'

/** losetup asks the file system of the backing file, which may hang. */
const ANSWER_MS = 5000

export interface LoopQuestion {
  /** Loop devices that do not count; loop devices that the operation itself releases never count. */
  readonly isOwn?: (device: string) => boolean
  /**
   * True if a backing file that cannot be found counts as an ordinary file if it is on a disk's file system: an image that
   * was deleted, or that is in another mount namespace. Device files are on file systems in memory.
   */
  readonly filesAside?: boolean
}

/**
 * A container may have put a loop device on a device file that it made itself, whose name means nothing here. So every loop
 * device counts as a user, unless its backing file is shown to be something else.
 */
export async function loopsOn(
  nodes: readonly OnDisk[],
  run: StepContext,
  { isOwn = () => false, filesAside = false }: LoopQuestion = {},
): Promise<DiskUser[]> {
  const { host, around, operation } = run
  const [first] = nodes
  if (first === undefined) return []
  const byFile = new Map(nodes.map((node) => [`/dev/${node.name}`, node]))
  const byDev = new Map(nodes.map((node) => [node.dev, node]))
  const users: DiskUser[] = []
  for (const { device, backingFile } of host.loops()) {
    if (operation.steps.some(({ op, target }) => op === 'losetup -d' && target === device) || isOwn(device)) continue
    const file = undeletedPath(backingFile)
    const named = byFile.get(file)
    // Another file may be in a deleted backing file's place by now.
    const backing =
      named?.dev ??
      (file !== backingFile
        ? undefined
        : (backingOf(backingFile, around.table, host) ?? (await hiddenNode(device, backingFile, run))))
    const node = byDev.get(backing ?? '')
    if (node !== undefined) users.push({ disk: node.on, who: `${device}, backed by ${backingFile}` })
    else if (
      backing === undefined &&
      nodes.some(({ dev }) => host.mayBeMadeOf(device, dev)) &&
      !(filesAside && (await isOnDisk(device, run)))
    ) {
      const who = `possibly ${device}: its backing file ${backingFile} could not be identified`
      users.push({ disk: first.on, who })
    }
  }
  return users
}

/**
 * The number of a device file, or `file` for a regular file; undefined if the path is neither, or if looking at it could
 * hang.
 */
export function backingOf(path: string, table: MountTable, host: Host): string | undefined {
  const mount = containingMount(table, path)
  if (mount === undefined || !cannotHang(mount.fsType)) return undefined
  try {
    return host.deviceNumber(path) ?? (host.lstat(path)?.type === 'file' ? 'file' : undefined)
  } catch {
    return undefined
  }
}

/**
 * If the mount of a backing file is gone, its name is "/" or that of a device node. Only then is losetup run: for other files
 * the answer is of no use, and their server may hang.
 */
async function hiddenNode(loop: string, backingFile: string, run: StepContext): Promise<string | undefined> {
  const isNodeName = backingFile === '/' || namesOfNodes(run).includes(posix.basename(backingFile))
  return isNodeName ? nodeBehind(loop, run) : undefined
}

/** True if the backing file is on a block device's file system: the major part of its device number is then above 0. */
async function isOnDisk(loop: string, run: StepContext): Promise<boolean> {
  const [, fileSystem] = (await askLoop(loop, run)) ?? []
  return fileSystem !== undefined && /^[1-9]\d*:/.test(fileSystem)
}

/** Inode and file system of the backing file, as the kernel reports them. */
async function askLoop(loop: string, { host, waiting }: StepContext): Promise<string[] | undefined> {
  try {
    const ask = ['--list', '--noheadings', '--output', 'BACK-INO,BACK-MAJ:MIN', loop]
    const { stdout } = await waiting.spend((ms) => host.run('losetup', ask, Math.min(ms, ANSWER_MS)))
    return stdout.trim().split(/\s+/)
  } catch {
    return undefined
  }
}

function namesOfNodes({ host }: StepContext): readonly string[] {
  try {
    return host.listNames('/dev')
  } catch {
    return []
  }
}

/**
 * The device node behind a loop device, whatever its name. The kernel knows the file system and inode of the backing file; a
 * node in /dev with the same two is that file, since all namespaces share one /dev and an inode in use is not reused.
 *
 * @returns "major:minor"; undefined: not known
 */
export async function nodeBehind(loop: string, run: StepContext): Promise<string | undefined> {
  const { host } = run
  try {
    const [inode, fileSystem] = (await askLoop(loop, run)) ?? []
    const found = namesOfNodes(run).find((name) => {
      const id = host.lstat(`/dev/${name}`)?.id
      return id !== undefined && String(id.ino) === inode && deviceNumberFrom(id.dev) === fileSystem
    })
    return found === undefined ? undefined : host.deviceNumber(`/dev/${found}`)
  } catch {
    return undefined
  }
}
