/**
 * All devices that "the disk and everything on it" means: what a volume's device is made of, and from there every
 * partition and everything that is made of it, as far up as it goes: dm, LVM, crypt, md, bcache, multipath (S21).
 */
import type { BlockNode, BlockTree } from './block-tree.ts'

/** A device of the volume, or of its disk. */
export type OnDisk = BlockNode & {
  /** The volume's own device that it was found from. */
  readonly on: string
  /** The volume's device, or what that is made of: its being there is not a second use of the disk. */
  readonly isBelow: boolean
}

/** How far down one goes from a device, in search of the disk. */
export interface Reach {
  /** Names of the node's own devices (node-stack.ts): what else is on them is nobody's volume, and stays when it goes. */
  readonly own: ReadonlySet<string>
  /**
   * From a logical volume to its disks. Not before an unstage: drivers of logical volumes take away the volume, never the
   * disk, on which other pods have theirs.
   */
  readonly throughLvm: boolean
}

/** Down to every disk, whoever else is on it. */
export const EVERYTHING: Reach = { own: new Set(), throughLvm: true }

/**
 * @param devices "major:minor"; one of which sysfs knows nothing is kept under its number, for mounts may still have it
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

/** The device itself, then its disk or what it is made of, and so on down, up to what is the node's own. */
export function withWhatItIsMadeOf(node: BlockNode, tree: BlockTree, reach: Reach): BlockNode[] {
  const found = new Map([[node.name, node]])
  const down = ({ disk, slaves, dmUuid }: BlockNode): void => {
    const through = isLogicalVolume(dmUuid) && !reach.throughLvm ? [] : slaves
    for (const name of [...(disk === undefined ? [] : [disk]), ...through]) {
      const below = found.has(name) || reach.own.has(name) ? undefined : tree.node(name)
      if (below === undefined) continue
      found.set(name, below)
      down(below)
    }
  }
  down(node)
  return [...found.values()]
}

/** Of a number that sysfs does not know, or not any more, the number is all there is. */
export function nodeOf(dev: string, tree: BlockTree): BlockNode {
  const name = tree.nameOf(dev)
  return (name === undefined ? undefined : tree.node(name)) ?? bareNode(dev, name ?? dev)
}

function bareNode(dev: string, name: string): BlockNode {
  return {
    ...{ name, dev, partitions: [], holders: [], slaves: [], characters: [] },
    ...{ isMultipath: false, isScsi: false, isRecovering: false },
  }
}

const isLogicalVolume = (dmUuid: string | undefined): boolean => dmUuid?.startsWith('LVM-') === true

/** Its being there is no use of the disk: a multipath map, and a partition of one (kpartx), which is a map too. */
export function isPassive({ isMultipath, dmUuid }: BlockNode): boolean {
  return isMultipath || /^part\d+-mpath-/.test(dmUuid ?? '')
}
