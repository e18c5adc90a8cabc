/**
 * The volume under another path (S8, S21, S24): a mount anywhere, in any namespace, whose path is that of this volume below
 * some root directory. The volume's device need not be known for this.
 */
import { describeProcess } from '../holders/describe-holders.ts'
import { undeletedPath } from '../mountinfo/deleted.ts'
import type { MountInfo, MountTable } from '../mountinfo/mount-table.ts'
import { goesWith } from '../mountinfo/propagation.ts'
import { parseCsiUniqueName, unescapeQualifiedName } from '../names.ts'
import { isWithin } from '../path-within.ts'
import type { VolumeRef } from '../plan/plan.ts'
import { type ShapeMatch, shapeMatcher, shapeOf, type VolumeShape } from '../volume-shapes.ts'
import { describeMount, expectedIds } from './expected-mounts.ts'
import { OperationRefused } from './operation-error.ts'
import type { StepContext } from './step-context.ts'

type Matches = (shape: VolumeShape) => ShapeMatch

/**
 * @param persistentVolume its name, where the operation's volume does not say it
 * @throws OperationRefused HeldBy, naming the path and, in another namespace, one of its processes
 */
export function requireNotSetUpElsewhere(run: StepContext, persistentVolume?: string): void {
  const { operation, around, plan, context } = run
  const { volume } = operation
  if (volume === undefined || volume.plugin !== 'kubernetes.io/csi') return
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
    return by === undefined || (by === 'name' && isOfAnother(mount, run)) ? [] : [{ mount, by }]
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
 * A name is no proof (S17): where both devices are known, and are not the same, it is another kubelet's volume of the same
 * name. Anonymous device numbers (0:N) tell nothing: each mount of a network file system has its own.
 */
function isOfAnother({ dev, root, fsType }: MountInfo, { record, host }: StepContext): boolean {
  const device = fsType === 'devtmpfs' ? host.deviceNumber(`/dev${root}`) : dev
  const known = [...record.devices.keys()]
  if (device === undefined || device.startsWith('0:')) return false
  return known.length > 0 && known.every((each) => !each.startsWith('0:') && each !== device)
}

function heldBy({ operation }: StepContext, who: string): OperationRefused {
  return new OperationRefused('HeldBy', `volume ${operation.volume?.name ?? ''} is set up elsewhere too: ${who}`, {
    hint: 'Find out who set it up there, and undo it there; then plan again.',
  })
}
