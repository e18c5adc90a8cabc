/**
 * Whether the volume is set up under another root directory (S8, S21, S24): by a mount in any namespace whose path has the
 * form of this volume's path. The volume's device need not be known for this.
 */

import { CSI_PLUGIN, parseCsiUniqueName, unescapeQualifiedName } from '../facts/actual/volume-names.ts'
import { EVERYTHING, withWhatItIsMadeOf } from '../linux/block/whole-disk.ts'
import { undeletedPath } from '../linux/deleted.ts'
import type { MountInfo, MountTable } from '../linux/mount-table.ts'
import { isWithin } from '../linux/paths.ts'
import type { Host } from '../node/host.ts'
import type { VolumeRef } from '../plan/plan.ts'
import { type ShapeMatch, shapeMatcher, shapeOf, type VolumeShape } from '../volumes/volume-shapes.ts'
import { deviceBehind } from './disk-users.ts'
import { mountIn, stayingOf, tablesAround } from './expected-mounts.ts'
import type { MachineFacts, Verdict } from './machine-facts.ts'
import { isSame } from './node-stack.ts'

type Matches = (shape: VolumeShape) => ShapeMatch

/** Names the path and, in another namespace, one of its processes. */
export function setUpElsewhere(facts: MachineFacts): Verdict | undefined {
  const { operation, around, context, attachment } = facts
  const { volume } = operation
  if (volume === undefined || volume.plugin !== CSI_PLUGIN) return undefined
  const matches = shapeMatcher({
    ...(volume.uniqueName === undefined ? {} : parseCsiUniqueName(volume.uniqueName)),
    names: namesOf(volume, attachment?.spec.source.persistentVolumeName),
  })
  const stays = stayingOf(facts)
  for (const { table, other } of tablesAround(around)) {
    if (other?.anybodys !== undefined) continue
    const there = found(table, matches, facts).find(
      ({ mount, by }) => stays(mount, table) && !(by === 'name' && isJudged(mount, facts)),
    )
    if (there === undefined) continue
    const { who, users = [] } = mountIn(there.mount, other, context.nameOf)
    return { code: 'HeldBy', message: `volume ${volume.name} is also set up elsewhere on this node: ${who}`, users }
  }
  return undefined
}

/** The names by which the volume may be mounted. If only the path was known to the plan, its name is the escaped one. */
function namesOf({ name, handle, persistentVolume }: VolumeRef, given: string | undefined): string[] {
  const own = name === handle ? [] : [unescapeQualifiedName(name)]
  return [...own, ...[persistentVolume, given].filter((each) => each !== undefined)]
}

function found(
  table: MountTable,
  matches: Matches,
  facts: MachineFacts,
): { mount: MountInfo; by: 'handle' | 'name' }[] {
  return table.under('/').flatMap((mount) => {
    const shape = shapeOf(undeletedPath(mount.mountPoint))
    const by = shape && matches(shape)
    return by === undefined || isOfAnother(mount, facts) ? [] : [{ mount, by }]
  })
}

/** True if it is in our own table, below the root directory: another volume of a running pod may have this name (S17). */
function isJudged({ mountPoint, dev, root }: MountInfo, { around, plan }: MachineFacts): boolean {
  if (!isWithin(undeletedPath(mountPoint), plan.rootDir)) return false
  return around.table.at(mountPoint).some((mount) => mount.dev === dev && mount.root === root)
}

/**
 * True for another kubelet's volume of the same name, or of the same handle in another cluster's storage: both devices are
 * known and have no disk in common. Anonymous numbers (0:N) prove nothing, since each mount of a network file system has its
 * own; nor does the number of a disk that is gone.
 */
function isOfAnother(mount: MountInfo, facts: MachineFacts): boolean {
  const { host } = facts
  const device = deviceBehind(mount, host)
  const own = ownDevices(facts)
  if (device === undefined || own === undefined) return false
  const theirs = disksOf(device, host)
  return theirs !== undefined && own.every((each) => disksOf(each, host)?.isDisjointFrom(theirs) ?? false)
}

/** The volume's own devices; undefined: not all are known, or a number may belong to another disk by now. */
function ownDevices({ record, operation, host }: MachineFacts): readonly string[] | undefined {
  const expected = (operation.expects ?? []).flatMap(({ layers }) => layers)
  const devices = [...record.devices.keys(), ...expected.map((layer) => deviceBehind(layer, host))]
  const isKnown = (dev: string | undefined): dev is string =>
    dev !== undefined && isSame(dev, record.devices.get(dev), host)
  return devices.length > 0 && devices.every(isKnown) ? devices : undefined
}

/** Names of a device and of every device that it is built on; undefined: the kernel has no such block device. */
function disksOf(dev: string, { blockTree }: Host): Set<string> | undefined {
  const name = dev.startsWith('0:') ? undefined : blockTree.nameOf(dev)
  const node = name === undefined ? undefined : blockTree.node(name)
  if (node === undefined) return undefined
  return new Set(withWhatItIsMadeOf(node, blockTree, EVERYTHING).map((each) => each.name))
}
