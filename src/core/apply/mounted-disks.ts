/** The SCSI disks behind what an operation, and those before it on the same volume, had mounted or mapped (P81). */
import type { BlockTree } from './block-tree.ts'
import { StepFailed } from './operation-error.ts'
import type { StepContext } from './step-context.ts'

/** Empty: nothing was mounted, or its device is gone already. @throws StepFailed ForeignDevice */
export function mountedDisks({ record, operation, host }: StepContext): Set<string> {
  const { blockTree } = host
  const names = [...record.devices].flatMap((dev) => {
    // btrfs has a number of its own; its source is one of its devices.
    if (!dev.startsWith('0:')) return blockTree.nameOf(dev) ?? []
    const source = /^\d+:\d+ (.+)$/.exec(operation.volume?.device ?? '')?.[1] ?? dev
    const name = blockTree.nameOfFile(source)
    if (name === undefined) throw notScsi(source)
    return name
  })
  return new Set(names.flatMap((name) => disksBehind(name, blockTree)))
}

/** A multipath map's paths, a partition's disk, or the disk itself with the other paths of its map. */
export function disksBehind(name: string, blockTree: BlockTree): string[] {
  const node = blockTree.node(name)
  if (node === undefined) return []
  if (node.disk !== undefined) return disksBehind(node.disk, blockTree)
  if (node.isMultipath) return [...node.slaves]
  if (!node.isScsi) throw notScsi(node.name)
  const maps = node.holders.flatMap((holder) => blockTree.node(holder) ?? []).filter((holder) => holder.isMultipath)
  return [name, ...maps.flatMap(({ slaves }) => slaves)]
}

function notScsi(name: string): StepFailed {
  return new StepFailed('ForeignDevice', `${name} is neither a SCSI disk nor a multipath map of such`, {
    hint: `Find out what was mounted there (lsblk, findmnt -S ${name}); release it yourself, then remove the directory.`,
  })
}
