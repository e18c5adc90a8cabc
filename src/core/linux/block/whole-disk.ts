/**
 * "The disk and everything on it": the devices that a volume's device is built on, and, going up from these, every partition
 * and everything built on them: dm, LVM, crypt, md, bcache, multipath (S21).
 */
import { present } from '../../base/text.ts'
import type { BlockNode, BlockTree } from './sysfs-block-tree.ts'

/** A device of the volume, or of its disk. */
export type OnDisk = BlockNode & {
  /** The volume's own device from which it was found. */
  readonly on: string
  /** The volume's device, or a device below it: its existence is not another use of the disk. */
  readonly isBelow: boolean
}

/** How far down the search for the disk goes. */
interface Reach {
  /**
   * Names of the node's own devices (node-stack.ts), at which the search stops: other things on them do not belong to the
   * volume.
   */
  readonly own: ReadonlySet<string>
  /**
   * Whether the search goes from a logical volume to its disks. Not before an unstage: drivers of logical volumes remove the
   * volume, never the disk, which also holds volumes of other pods.
   */
  readonly throughLvm: boolean
}

/** Down to every disk, whatever else is on it. */
export const EVERYTHING: Reach = { own: new Set(), throughLvm: true }

/**
 * @param devices "major:minor"; a device that sysfs does not have is kept by its number, since mounts may still have it
 * @returns each once; the volume's own first
 */
export function wholeDisk(devices: Iterable<string>, tree: BlockTree, reach: Reach): OnDisk[] {
  const found = new Map<string, OnDisk>()
  const add = (node: BlockNode, on: string, isBelow: boolean): boolean => {
    const known = found.get(node.name)
    if (known !== undefined && (known.isBelow || !isBelow)) return false
    found.set(node.name, { ...node, on, isBelow })
    return known === undefined
  }
  for (const dev of devices) {
    const node = nodeOf(dev, tree)
    for (const each of withWhatItIsMadeOf(node, tree, reach)) add(each, node.name, true)
  }
  const up = (name: string, on: string): void => {
    const node = reach.own.has(name) ? undefined : tree.node(name)
    if (node === undefined || !add(node, on, false)) return
    above(node, on)
  }
  const above = (node: BlockNode, on: string): void => {
    for (const each of [...node.partitions, ...node.holders]) up(each, on)
    // The other paths of a multipath map are the same disk.
    if (node.isMultipath) for (const path of node.slaves) up(path, on)
  }
  for (const node of [...found.values()]) above(node, node.on)
  return [...found.values()]
}

/** The device itself, then its disk or the devices that it is built on, and so on down, without the node's own devices. */
export function withWhatItIsMadeOf(node: BlockNode, tree: BlockTree, reach: Reach): BlockNode[] {
  const found = new Map([[node.name, node]])
  const down = ({ disk, slaves, dmUuid }: BlockNode): void => {
    const through = dmUuid?.startsWith('LVM-') && !reach.throughLvm ? [] : slaves
    for (const name of present(disk, ...through)) {
      const below = found.has(name) || reach.own.has(name) ? undefined : tree.node(name)
      if (below === undefined) continue
      found.set(name, below)
      down(below)
    }
  }
  down(node)
  return [...found.values()]
}

/** The device with this number; one that sysfs does not have (any more) has only its number. */
export function nodeOf(dev: string, tree: BlockTree): BlockNode {
  const name = tree.nameOf(dev)
  const bare = {
    ...{ name: name ?? dev, dev, partitions: [], holders: [], slaves: [], characters: [] },
    isMultipath: false,
    isScsi: false,
    isRecovering: false,
  }
  return (name === undefined ? undefined : tree.node(name)) ?? bare
}

/**
 * True if the device's existence alone is no use of the disk: a multipath map, or a partition of one (kpartx), which is a map
 * too.
 */
export function isPassive({ isMultipath, dmUuid }: BlockNode): boolean {
  return isMultipath || /^part\d+-mpath-/.test(dmUuid ?? '')
}
