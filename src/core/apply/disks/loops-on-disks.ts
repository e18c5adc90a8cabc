/** Loop devices on a disk: a user of it, however its backing file is called here (S21, S25). */
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

/** The file system of the backing file is asked, which may be dead. */
const ANSWER_MS = 5000

export interface LoopQuestion {
  /** Default: those alone that the operation itself releases. */
  readonly isOwn?: (device: string) => boolean
  /**
   * A backing file that cannot be found, and lies on a file system of a disk, is taken for a file: that of an image which
   * was deleted, or of another mount namespace. Device files are on file systems in memory.
   */
  readonly filesAside?: boolean
}

/**
 * A container may have made a loop device over a device file of its own making, whose name says nothing here. So a loop
 * is no user only where its backing file is shown to be something else.
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
    // What was deleted may have another file in its place.
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
      const who = `perhaps ${device}: what its backing file ${backingFile} is could not be found out`
      users.push({ disk: first.on, who })
    }
  }
  return users
}

/** The number of a device file, `file` of a regular one; undefined where that is not shown, or might have to be waited for. */
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
 * Of a backing file on a mount that is gone the name is "/", or the node's own. Of any other file the answer would say
 * nothing, and its server may have to be waited for.
 */
async function hiddenNode(loop: string, backingFile: string, run: StepContext): Promise<string | undefined> {
  const isNodeName = backingFile === '/' || namesOfNodes(run).includes(posix.basename(backingFile))
  return isNodeName ? nodeBehind(loop, run) : undefined
}

/** The file system of the backing file has a block device, so that its number's major part is one. */
async function isOnDisk(loop: string, run: StepContext): Promise<boolean> {
  const [, fileSystem] = (await askLoop(loop, run)) ?? []
  return fileSystem !== undefined && /^[1-9]\d*:/.test(fileSystem)
}

/** Inode and file system of the backing file, as the kernel says. */
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
 * The device node behind a loop, whatever its name: the kernel says the file system and inode of the backing file. Of
 * /dev there is one for all namespaces, and an inode that is in use is nobody else's: a node in it with both of them is
 * the file.
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
