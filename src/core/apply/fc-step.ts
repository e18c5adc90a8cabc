/** Releasing a Fibre Channel LUN: the SCSI devices of what was mounted or mapped (P81, P84, S25). */
import { posix } from 'node:path'
import { isFcLink, parseFcDirectory } from '../fc-disk.ts'
import type { Step } from '../plan/plan.ts'
import { describeMount } from './expected-mounts.ts'
import { StepFailed } from './operation-error.ts'
import { removeDisks } from './remove-disks.ts'
import type { StepContext } from './step-context.ts'

/**
 * The device is the mount's, not the directory's name. Where nothing was mounted any more, as after a tear-down that was
 * ended half-way, it is the one that udev's links name whole.
 */
export async function deleteFcDevices({ target }: Step, run: StepContext): Promise<string | undefined> {
  const mount = run.around.table.at(target).at(-1)
  if (mount !== undefined) throw new StepFailed('StillMounted', `${describeMount(mount)} is still there`)
  const mounted = mountedDevices(run)
  const linked = linkedDevices(target, run)
  const disks = new Set([...(mounted.size > 0 ? mounted : linked)].flatMap((name) => pathsOf(name, run)))
  requireLinked(disks, linked, target, run)
  await removeDisks([...disks], run)
  return undefined
}

function mountedDevices({ record, operation, host }: StepContext): Set<string> {
  const names = new Set<string>()
  for (const dev of record.devices) {
    // btrfs has a number of its own; its source is one of its devices.
    const source = /^\d+:\d+ (.+)$/.exec(operation.volume?.device ?? '')?.[1] ?? ''
    const anonymous = dev.startsWith('0:')
    const name = anonymous ? host.blockTree.nameOfFile(source) : host.blockTree.nameOf(dev)
    if (anonymous && name === undefined) throw notScsi(source || dev)
    if (name !== undefined) names.add(name)
  }
  return names
}

function linkedDevices(target: string, { host }: StepContext): Set<string> {
  const disk = parseFcDirectory(posix.basename(target))
  if (disk === undefined) return new Set()
  const found = (['by-path', 'by-id'] as const).flatMap((directory) =>
    host.blockTree.links(directory).filter(({ link }) => isFcLink(disk, directory, link)),
  )
  return new Set(found.map(({ name }) => name))
}

/** The disks behind a device: a multipath map's paths, a partition's disk, or the disk itself with what maps it. */
function pathsOf(name: string, { host: { blockTree } }: StepContext): string[] {
  const node = blockTree.node(name)
  if (node === undefined) return []
  if (node.disk !== undefined) return [node.disk]
  if (node.isMultipath) return [...node.slaves]
  if (!node.isScsi) throw notScsi(node.name)
  const maps = node.holders.flatMap((holder) => blockTree.node(holder) ?? []).filter((holder) => holder.isMultipath)
  return [name, ...maps.flatMap(({ slaves }) => slaves)]
}

function notScsi(name: string): StepFailed {
  return new StepFailed('ForeignDevice', `${name} is neither a SCSI disk nor a multipath map, as FC volumes are`, {
    hint: `Find out what was mounted there (lsblk /dev/${name}); release it yourself, then remove the directory.`,
  })
}

/** Where udev names the volume's device at all, what was mounted must be that one. */
function requireLinked(
  disks: ReadonlySet<string>,
  linked: ReadonlySet<string>,
  target: string,
  run: StepContext,
): void {
  if (linked.size === 0 || disks.size === 0) return
  const named = new Set([...linked].flatMap((name) => pathsOf(name, run)))
  const stranger = [...disks].find((disk) => !named.has(disk))
  if (stranger === undefined) return
  throw new StepFailed('ForeignDevice', `${stranger} is not a device of ${posix.basename(target)}`, {
    hint: 'Find out what was mounted there (lsblk, ls -l /dev/disk/by-path); release it yourself, then remove the directory.',
  })
}
