/** Finds loop devices on a disk, whatever name their backing file has here (S21, S25). */
import { deviceNumberFrom } from '../../block/device-use.ts'
import type { OnDisk } from '../../block/whole-disk.ts'
import { isLocal, viewsOf } from '../../holders/follow-links.ts'
import { undeletedPath } from '../../mountinfo/deleted.ts'
import { LOOK_MS } from '../../processes/look-bounds.ts'
import { perRun } from '../../trust/run.ts'
import type { StepContext } from '../operation/step-context.ts'
import type { DiskUser } from './disk-user.ts'

type LoopDevice = ReturnType<StepContext['host']['loops']>[number]

/**
 * A container may have put a loop device on a device file that it made itself, whose name means nothing here. So every loop
 * device of a fitting size counts as a user, unless its backing file is shown to be something else. That the file lies on a
 * disk shows nothing: a device file may, too.
 *
 * @param isOwn loop devices that do not count; loop devices that the operation itself releases never count
 */
export async function loopsOn(
  nodes: readonly OnDisk[],
  run: StepContext,
  isOwn: (device: string) => boolean = () => false,
): Promise<DiskUser[]> {
  const { host, operation } = run
  const [first] = nodes
  if (first === undefined) return []
  const byFile = new Map(nodes.map((node) => [`/dev/${node.name}`, node]))
  const byDev = new Map(nodes.map((node) => [node.dev, node]))
  const users: DiskUser[] = []
  for (const loop of host.loops()) {
    const { device, backingFile } = loop
    if (operation.steps.some(({ op, target }) => op === 'losetup -d' && target === device) || isOwn(device)) continue
    // No loop device is made of itself.
    if (byFile.has(device)) continue
    const named = byFile.get(undeletedPath(backingFile))
    if (named === undefined && !nodes.some(({ dev }) => host.mayBeMadeOf(device, dev))) continue
    const behind = named?.dev ?? (await behindLoop(loop, run))
    const node = byDev.get(behind ?? '')
    if (node !== undefined) users.push({ disk: node.on, who: `${device}, backed by ${backingFile}` })
    else if (behind === undefined && isStillThere(loop, host)) {
      const who = `possibly ${device}: its backing file ${backingFile} could not be identified`
      users.push({ disk: first.on, who })
    }
  }
  return users
}

/** A loop device whose driver has just released it cannot be asked any more, and uses nothing. */
function isStillThere({ device, backingFile }: LoopDevice, host: StepContext['host']): boolean {
  return host.loops().some((each) => each.device === device && each.backingFile === backingFile)
}

/**
 * The number of the device node behind a loop device, whatever its name, or `file`. The kernel knows the file system and inode
 * of the backing file, and the name by which it was opened, in whichever mount namespace. What has that name somewhere, or is
 * a node in /dev, and has the same two, is that file: an inode in use is not reused.
 *
 * @returns undefined: not known
 */
export async function behindLoop({ device, backingFile }: LoopDevice, run: StepContext): Promise<string | undefined> {
  const { host, around } = run
  const path = undeletedPath(backingFile)
  // The kernel would ask the server of the file.
  if (!isLocal(around.table, path)) return undefined
  const [inode, fileSystem] = (await askLoop(device, run)) ?? []
  const views = viewsOf(around.table, around.others).filter(({ table }) => isLocal(table, path))
  for (const at of [...views.map(({ root }) => root + path), ...namesOfNodes(run).map((name) => `/dev/${name}`)]) {
    try {
      const found = host.lstat(at)
      if (found?.id === undefined || String(found.id.ino) !== inode || deviceNumberFrom(found.id.dev) !== fileSystem)
        continue
      return found.type === 'file' ? 'file' : host.deviceNumber(at)
    } catch {
      // It does not lead to it.
    }
  }
  return undefined
}

/** What the kernel has said of each file on a loop device, by the device and its sequence number: another file raises that. */
const answers = perRun(() => new Map<string, readonly string[]>())

/** Inode and file system of the backing file, as the kernel reports them: asked once, since a node may have hundreds of them. */
async function askLoop(loop: string, { host, waiting }: StepContext): Promise<readonly string[] | undefined> {
  const sequence = sequenceOf(loop, host)
  const saidOf = answers()
  const known = sequence === undefined ? undefined : saidOf.get(sequence)
  if (known !== undefined) return known
  try {
    const ask = ['--list', '--noheadings', '--output', 'BACK-INO,BACK-MAJ:MIN', loop]
    const { stdout } = await waiting.spend((ms) => host.run('losetup', ask, Math.min(ms, LOOK_MS.losetupOfOne)))
    const said = stdout.trim().split(/\s+/)
    if (said.length === 2 && sequence !== undefined && sequenceOf(loop, host) === sequence) saidOf.set(sequence, said)
    return said
  } catch {
    return undefined
  }
}

/** Undefined: the kernel is older than 5.15, or there is no such device. */
function sequenceOf(loop: string, host: StepContext['host']): string | undefined {
  const dev = host.deviceNumber(loop)
  const sequence = dev === undefined ? undefined : host.diskSequence(dev)
  return sequence === undefined ? undefined : `${loop} ${sequence}`
}

function namesOfNodes({ host }: StepContext): readonly string[] {
  try {
    return host.listNames('/dev')
  } catch {
    return []
  }
}
