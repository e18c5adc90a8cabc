/**
 * Block devices in use here that belong to nothing known: each may be that of a volume whose device is unknown (S21). Known
 * are the devices of the system directories, those that fstab names, image files, and the volumes of this node.
 */

import { readStateFile } from '../../actual/state-file.ts'
import type { BlockNode } from '../../block/block-tree.ts'
import { EVERYTHING, withWhatItIsMadeOf } from '../../block/whole-disk.ts'
import { describeProcess } from '../../holders/describe-holders.ts'
import { undeletedPath } from '../../mountinfo/deleted.ts'
import type { MountInfo } from '../../mountinfo/mount-table.ts'
import { csiUniqueName } from '../../names/volume-names.ts'
import { describeMountIn, tablesAround } from '../operation/expected-mounts.ts'
import type { StepContext } from '../operation/step-context.ts'
import { processesWith, requireSeen } from './device-processes.ts'
import { mountsOf, namesBehind } from './disk-users.ts'
import { fstabDevices, fstabPlaces, nodesOwn } from './node-stack.ts'

export interface UnexplainedDevice {
  /** As the kernel calls it: sdb1. */
  readonly name: string
  /** Who or what uses it, for messages. */
  readonly use: string
}

/** In memory, on a file, or on a device that is checked itself: no attached disk has such a name. */
const NO_DISKS = /^(?:zram|ram|loop)\d+$/

/**
 * The first one found.
 *
 * @param attached "major:minor" of devices that other attachments of this node name
 * @throws StepFailed UsersUnknown if the openers cannot be seen
 */
export async function unexplainedDevice(
  run: StepContext,
  attached: readonly string[],
): Promise<UnexplainedDevice | undefined> {
  const tree = run.host.blockTree
  const explained = explainedDevices(run)
  for (const dev of attached) explained.add(tree.nameOf(dev) ?? '')
  const isExplained = (name: string): boolean => explained.has(name) || NO_DISKS.test(name)
  const nodes = tree
    .names()
    // Before anything is read of it: a node may have hundreds of loop devices.
    .filter((name) => !isExplained(name))
    .flatMap((name) => tree.node(name) ?? [])
    .filter((node) => !withWhatItIsMadeOf(node, tree, EVERYTHING).some(({ name }) => isExplained(name)))
  if (nodes.length === 0) return undefined
  return mounted(nodes, run) ?? looped(nodes, run) ?? (await opened(nodes, run)) ?? keptByKernel(nodes, run)
}

function explainedDevices(run: StepContext): Set<string> {
  const { around, host, plan } = run
  const own = nodesOwn(around, plan.rootDir, host)
  const fstab = host.readSmallFile('/etc/fstab') ?? ''
  const kept = fstabPlaces(fstab).flatMap((place) => around.table.at(place))
  const volumes = around.table.under(plan.rootDir).filter(({ mountPoint }) => isOfAnother(mountPoint, run))
  return new Set([
    ...own.devices,
    ...[...kept, ...volumes].flatMap((mount) => namesOf(mount, run)),
    ...fstabDevices(host),
  ])
}

/** Where the kubelet mounts or maps a CSI volume. */
const OF_CSI =
  /^(?:(plugins\/kubernetes\.io\/csi\/[^/]+\/[^/]+)\/globalmount|(pods\/[^/]+\/volumes\/kubernetes\.io~csi\/[^/]+)\/mount|(plugins\/kubernetes\.io\/csi\/volumeDevices\/)(?:(?:staging|publish)\/)?([^/]+)(?:\/.+)?)$/

/** The state file beside a mount says whose it is. A path below `plugins` or `pods` alone may be that of any volume, this one too. */
function isOfAnother(mountPoint: string, { host, operation, plan }: StepContext): boolean {
  const [, staged, published, devices, name] = OF_CSI.exec(mountPoint.slice(plan.rootDir.length + 1)) ?? []
  const directory = staged ?? published ?? (devices && `${devices}${name}/data`)
  const path = `${plan.rootDir}/${directory}/vol_data.json`
  const content = directory === undefined ? undefined : host.readSmallFile(path)
  const data = content === undefined ? undefined : readStateFile({ path, type: 'file', content })?.data
  return data !== undefined && csiUniqueName(data.driverName, data.volumeHandle) !== operation.volume?.uniqueName
}

function namesOf(mount: MountInfo, { host: { blockTree } }: StepContext): string[] {
  const name = mount.dev.startsWith('0:') ? undefined : blockTree.nameOf(mount.dev)
  return name === undefined ? namesBehind(mount, blockTree) : [name]
}

function mounted(nodes: readonly BlockNode[], { around, host }: StepContext): UnexplainedDevice | undefined {
  for (const { table, other } of tablesAround(around)) {
    const [found] = mountsOf(table, nodes, host.blockTree)
    if (found !== undefined) return { name: found[1].name, use: describeMountIn(found[0], other) }
  }
  return undefined
}

function looped(nodes: readonly BlockNode[], { host }: StepContext): UnexplainedDevice | undefined {
  for (const { device, backingFile } of host.loops()) {
    const name = host.blockTree.nameOfFile(undeletedPath(backingFile))
    if (nodes.some((node) => node.name === name)) return { name: name ?? '', use: `${device} is backed by it` }
  }
  return undefined
}

/** @throws StepFailed UsersUnknown */
async function opened(nodes: readonly BlockNode[], run: StepContext): Promise<UnexplainedDevice | undefined> {
  const byDev = new Map(nodes.map((node) => [node.dev, node]))
  const devices = new Set(byDev.keys())
  const uses = await processesWith({ devices }, run)
  const opener = uses.openers(devices).find(({ pid, dev }) => byDev.get(dev)?.servedBy !== pid)
  if (opener === undefined) return void requireSeen(uses, new Set(['block devices']))
  const name = byDev.get(opener.dev)?.name ?? opener.dev
  return { name, use: `${describeProcess(opener, run.context.nameOf)} has it ${opener.how}` }
}

/** Devices with holders are skipped: the holders are checked themselves, and the existence of an unused map is no use. */
function keptByKernel(nodes: readonly BlockNode[], { host }: StepContext): UnexplainedDevice | undefined {
  for (const { name, dev, holders, isRecovering } of nodes) {
    const [use] = holders.length > 0 || isRecovering ? [] : host.deviceUse(dev).users
    if (use !== undefined) return { name, use }
  }
  return undefined
}
