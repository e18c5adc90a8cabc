/**
 * The volume under another path (S8, S21, S24): a mount anywhere, in any namespace, whose path is that of this volume below
 * some root directory. The volume's device need not be known for this.
 */

import { EVERYTHING, withWhatItIsMadeOf } from '../../block/whole-disk.ts'
import { OperationRefused } from '../../errors/operation-error.ts'
import { isWithin } from '../../files/path-within.ts'
import { describeProcess } from '../../holders/describe-holders.ts'
import type { Host } from '../../host/host.ts'
import { undeletedPath } from '../../mountinfo/deleted.ts'
import type { MountInfo, MountTable } from '../../mountinfo/mount-table.ts'
import { goesWith } from '../../mountinfo/propagation.ts'
import { CSI_PLUGIN, parseCsiUniqueName, unescapeQualifiedName } from '../../names/volume-names.ts'
import { type ShapeMatch, shapeMatcher, shapeOf, type VolumeShape } from '../../names/volume-shapes.ts'
import type { VolumeRef } from '../../plan/plan.ts'
import { describeMount, expectedIds } from '../operation/expected-mounts.ts'
import type { StepContext } from '../operation/step-context.ts'
import { isSame } from './volume-devices.ts'

type Matches = (shape: VolumeShape) => ShapeMatch

/**
 * @param persistentVolume its name, where the operation's volume does not say it
 * @throws OperationRefused HeldBy, naming the path and, in another namespace, one of its processes
 */
export function requireNotSetUpElsewhere(run: StepContext, persistentVolume?: string): void {
  const { operation, around, plan, context } = run
  const { volume } = operation
  if (volume === undefined || volume.plugin !== CSI_PLUGIN) return
  const matches = shapeMatcher({
    ...(volume.uniqueName === undefined ? {} : parseCsiUniqueName(volume.uniqueName)),
    names: namesOf(volume, persistentVolume),
  })
  const own = expectedIds(operation)
  const judged = (mount: MountInfo): boolean => isWithin(undeletedPath(mount.mountPoint), plan.rootDir)
  const here = found(around.table, matches, run).find(
    ({ mount, by }) => !own.has(mount.id) && !(by === 'name' && judged(mount)) && !isOwnCopy(mount, around.table, run),
  )
  if (here !== undefined) throw heldBy(run, describeMount(here.mount))
  for (const { table, pid, process } of around.others) {
    const there = found(table, matches, run).find(
      ({ mount, by }) => !isOwnCopy(mount, table, run) && !(by === 'name' && isCopyOf(mount, run)),
    )
    if (there === undefined) continue
    throw heldBy(
      run,
      `${describeMount(there.mount)}, in the mount namespace of ${describeProcess({ process, pid }, context.nameOf)}`,
    )
  }
}

/** An operation that is decided by the path alone has the name as it is on disk. */
function namesOf({ name, handle, persistentVolume }: VolumeRef, given: string | undefined): string[] {
  const own = name === handle ? [] : [unescapeQualifiedName(name)]
  return [...own, ...[persistentVolume, given].filter((each) => each !== undefined)]
}

function found(table: MountTable, matches: Matches, run: StepContext): { mount: MountInfo; by: 'handle' | 'name' }[] {
  return table.under('/').flatMap((mount) => {
    const shape = shapeOf(undeletedPath(mount.mountPoint))
    const by = shape && matches(shape)
    return by === undefined || isOfAnother(mount, run) ? [] : [{ mount, by }]
  })
}

/** A mount of this operation's, seen again where its peers have it: it goes with it (R032, P18). */
function isOwnCopy(mount: MountInfo, table: MountTable, { around, operation }: StepContext): boolean {
  const own = [...expectedIds(operation).keys()].flatMap((id) => around.table.byId(id) ?? [])
  return own.some((each) => goesWith(around.table, each, mount, table))
}

/** What our own table has at the same place is judged there: a living pod's other volume may bear this name (S17). */
function isCopyOf({ mountPoint, dev, root }: MountInfo, { around, plan }: StepContext): boolean {
  if (!isWithin(mountPoint, plan.rootDir)) return false
  return around.table.at(mountPoint).some((mount) => mount.dev === dev && mount.root === root)
}

/**
 * Another kubelet's volume of the same name, or even the same handle of another cluster's storage: where both devices are
 * known, and are on no disk in common. Anonymous numbers (0:N) tell nothing, for each mount of a network file system has
 * its own; nor does the number of a disk that is gone.
 */
function isOfAnother({ dev, root, fsType }: MountInfo, run: StepContext): boolean {
  const { host } = run
  const device = fsType === 'devtmpfs' ? host.deviceNumber(`/dev${root}`) : dev
  const own = ownDevices(run)
  if (device === undefined || own === undefined) return false
  const theirs = disksOf(device, host)
  return theirs !== undefined && own.every((each) => disksOf(each, host)?.isDisjointFrom(theirs) ?? false)
}

/** Undefined: not all are known, or one may be another's by now. */
function ownDevices({ record, operation, host }: StepContext): readonly string[] | undefined {
  const expected = (operation.expects ?? []).flatMap(({ layers }) => layers)
  const binds = expected
    .filter(({ fsType }) => fsType === 'devtmpfs')
    .map(({ root }) => host.deviceNumber(`/dev${root}`))
  const mounted = expected.filter(({ fsType }) => fsType !== 'devtmpfs').map(({ dev }) => dev)
  const devices = [...record.devices.keys(), ...mounted, ...binds]
  const isKnown = (dev: string | undefined): dev is string =>
    dev !== undefined && isSame(dev, record.devices.get(dev), host)
  return devices.length > 0 && devices.every(isKnown) ? devices : undefined
}

/** Names of a device and of all that it is made of; undefined: it is none of the kernel's block devices. */
function disksOf(dev: string, { blockTree }: Host): Set<string> | undefined {
  const name = dev.startsWith('0:') ? undefined : blockTree.nameOf(dev)
  const node = name === undefined ? undefined : blockTree.node(name)
  if (node === undefined) return undefined
  return new Set(withWhatItIsMadeOf(node, blockTree, EVERYTHING).map((each) => each.name))
}

function heldBy({ operation }: StepContext, who: string): OperationRefused {
  return new OperationRefused('HeldBy', `volume ${operation.volume?.name ?? ''} is set up elsewhere too: ${who}`, {
    hint: 'Find out who set it up there, and undo it there; then plan again.',
  })
}
