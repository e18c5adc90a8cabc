/**
 * What must be unused before a volume is detached or removed: whole disks, file systems without a disk, directories (S21,
 * O36).
 */
import type { Host } from '../../host/host.ts'
import type { SeenLayer, VolumeRecord } from '../operation/volume-record.ts'
import type { NodesOwn } from './node-stack.ts'

export interface VolumeDevices {
  /** "major:minor" of block devices. */
  readonly disks: readonly string[]
  /** The devices that these were built on when first seen. */
  readonly below: readonly string[]
  /** File systems without a block device: of a server, in memory. */
  readonly fileSystems: readonly SeenLayer[]
  /** Directories of one of the node's own file systems: only use of the directory itself counts. */
  readonly directories: readonly SeenLayer[]
}

export function devicesOf(record: VolumeRecord, own: NodesOwn, host: Host): VolumeDevices {
  const layers = record.layers.filter(({ fsType }) => fsType !== 'devtmpfs')
  const whole = new Set(layers.filter(({ root }) => root === '/').map(({ dev }) => dev))
  const isDirectory = ({ dev, keptAt }: SeenLayer): boolean =>
    !whole.has(dev) && (keptAt !== undefined || own.fileSystems.has(dev))
  const kept = new Set(layers.filter(isDirectory).flatMap(({ dev, behind }) => [dev, ...behind]))
  const others = layers.filter((layer) => !isDirectory(layer))
  for (const { dev, behind } of others) for (const each of [dev, ...behind]) kept.delete(each)
  const disks = [...record.devices.keys()].filter((dev) => !dev.startsWith('0:') && !kept.has(dev))
  const below = disks.flatMap((dev) =>
    [...(record.below.get(dev) ?? [])]
      .filter(([each, before]) => isSame(each, before, host) && !own.devices.has(host.blockTree.nameOf(each) ?? ''))
      .map(([each]) => each),
  )
  return {
    disks: disks.filter((dev) => isSame(dev, record.devices.get(dev), host)),
    below: [...new Set(below)],
    fileSystems: [
      ...others.filter(({ dev, behind }) => dev.startsWith('0:') && behind.length === 0),
      ...[...record.devices.keys()]
        .filter((dev) => dev.startsWith('0:') && !layers.some((layer) => layer.dev === dev))
        .map((dev) => ({ dev, root: '/', fsType: '', source: '', behind: [] })),
    ],
    directories: layers.filter(isDirectory),
  }
}

/**
 * True if the device number still belongs to the same disk, by its sequence number. Without a sequence number nothing is
 * proved, and the disk counts as the same: the disk may be gone while its file system is still mounted.
 */
export function isSame(dev: string, before: string | undefined, host: Host): boolean {
  const now = host.diskSequence(dev)
  return before === undefined || now === undefined || now === before
}
