/** The SCSI disks behind what an operation, and earlier ones on the same volume, found mounted or mapped (P81). */

import type { BlockTree } from '../../block/block-tree.ts'
import { StepFailed } from '../../errors/operation-error.ts'
import type { Host } from '../../host/host.ts'
import { commandLine } from '../../lang/command.ts'
import type { MountInfo } from '../../mountinfo/mount-table.ts'
import { pluginNamed } from '../../plugins/registry.ts'
import { expectedIds, isExpected } from '../operation/expected-mounts.ts'
import type { StepContext } from '../operation/step-context.ts'

/**
 * Records the devices of mounts that are about to be unmounted. Only those that are still mounted count: another device
 * number in the plan may belong to another disk by now (S26).
 */
export function noteMounted({ operation, around, host, record }: StepContext): void {
  if (pluginNamed(operation.volume?.plugin ?? '').device?.release === undefined) return
  const expected = expectedIds(operation)
  for (const { path } of operation.expects ?? []) {
    for (const mount of around.table.at(path)) {
      const dev = isExpected(mount, expected) ? deviceOf(mount, host) : undefined
      if (dev !== undefined) record.noteMounted(dev)
    }
  }
}

/** For a bind mount of a device file, that device; for btrfs, which has its own number, the device that its source names. */
function deviceOf({ dev, fsType, root, source }: MountInfo, { blockTree, deviceNumber }: Host): string | undefined {
  if (fsType === 'devtmpfs') return deviceNumber(`/dev${root}`)
  const name = dev.startsWith('0:') ? blockTree.nameOfFile(source) : undefined
  return (name === undefined ? undefined : blockTree.node(name)?.dev) ?? dev
}

/** Names of the disks; empty: nothing was mounted, or its device is already gone. @throws StepFailed ForeignDevice */
export function mountedDisks({ record, host }: StepContext): Set<string> {
  const { blockTree } = host
  const names = [...record.mounted].flatMap(([dev, sequence]) => {
    if (dev.startsWith('0:')) throw notScsi(dev)
    const name = blockTree.nameOf(dev)
    if (name === undefined) return []
    if (host.diskSequence(dev) === sequence) return name
    throw new StepFailed(
      'ForeignDevice',
      `${name} now has device number ${dev}, which was mounted, but is another disk`,
      {
        hint: 'Plan again: the directory is kept.',
      },
    )
  })
  return new Set(names.flatMap((name) => disksBehind(name, blockTree)))
}

/** The disks of a device: a multipath map's paths, a partition's disk, or the disk itself with the other paths of its map. */
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
  return new StepFailed('ForeignDevice', `${name} is neither a SCSI disk nor a multipath map of SCSI disks`, {
    hint: `Find out what was mounted there (lsblk, ${commandLine('findmnt', '-S', name)}), and release it; the directory is kept.`,
  })
}
