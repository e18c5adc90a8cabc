/**
 * S20: nothing is done to a volume whose file system was detached lazily, until its superblock is gone. S29: nor to one whose driver
 * does not answer.
 */

import { append, memoize } from '../base/collections.ts'
import type { MountInfo } from '../linux/mount-table.ts'
import { isWithin } from '../linux/paths.ts'
import { advice, volctl } from '../messages/command.ts'
import { said } from '../messages/findings.ts'
import { removedBy } from '../plan/draft.ts'
import type { OperationKind } from '../plan/plan.ts'
import { rowOf } from '../volumes/finding.ts'
import { baseName } from '../volumes/on-disk/tree.ts'
import type { LazyMemoryDefect } from '../volumes/snapshot.ts'
import type { Step } from '../volumes/steps.ts'
import type { PlanContext } from './context.ts'
import type { Judge } from './rule.ts'

/** On a path that was detached lazily, or on the same volume: its device and its attachment have other paths. */
export const lazilyDetached: Judge = ({ operation, context: { inputs, ledger } }) => {
  const { paths, volume, subject } = operation
  const found = inputs.snapshot.lazilyDetached?.findLast(
    ({ path, volume: name }) =>
      paths.some((each) => isWithin(each, path) || isWithin(path, each)) ||
      (name !== undefined && name === (volume?.uniqueName ?? volume?.name)) ||
      ledger.partsAt(path).some(({ row }) => row === rowOf(subject)),
  )
  return found && said('DetachedLazily.earlier', found)
}

/** Reports once that the record of lazy unmounts cannot be used; every operation that depends on it is blocked as well. */
export function reportLazyMemory({ inputs: { snapshot }, findings }: PlanContext): void {
  const { lazyMemory } = snapshot
  if (lazyMemory === undefined) return
  const { path } = lazyMemory
  const about = { path, subject: { path } }
  findings.incomplete('error', said('LazyMemoryUnusable.record', lazyMemory), about, hintOf(lazyMemory))
}

/**
 * It is unknown what was detached lazily, and unknown is not "nothing": it may be any volume. Devices stay, and no driver is
 * called to tear down a volume that is no longer mounted. A mount that is still there may be unmounted.
 */
export const lazyMemoryUnusable: Judge = ({ operation, context }) => {
  const { lazyMemory } = context.inputs.snapshot
  if (lazyMemory === undefined) return undefined
  const { kind, steps } = operation
  if (!OF_DEVICES.includes(kind) && (removedBy(operation).length > 0 || !steps.some(forgets))) return undefined
  return {
    ...said('LazyMemoryUnusable.volume', { message: said('LazyMemoryUnusable.record', lazyMemory).message }),
    hint: hintOf(lazyMemory),
  }
}

function hintOf({ path, why }: LazyMemoryDefect): string {
  return why === 'permission denied'
    ? `Only root can read ${path}: use sudo.`
    : `Look at ${path}, and at who else may write there; give it back to root (chown root, chmod go-w); then plan again. After a reboot nothing that it may name is left.`
}

const OF_DEVICES: readonly OperationKind[] = ['UnmapVolume', 'UnmountDevice', 'UnmapDevice', 'DetachVolume']

/** True if the step has the driver release the volume, or removes its record. */
function forgets({ op, target }: Step): boolean {
  return (
    op === 'NodeUnpublishVolume' || op === 'flexUnmount' || (op === 'unlink' && baseName(target) === 'vol_data.json')
  )
}

/**
 * S29: if all mounts of one driver are dead at once, its backend is down, not the volumes. Holds back that driver's operations.
 */
export const deadDriver: Judge = ({ operation: { volume }, context }) => {
  const { options, inputs, classes } = context
  const driver = volume?.driver
  if (driver === undefined || (inputs.snapshot.deadMounts ?? []).length < 2) return undefined
  const gonePods = classes.gone.length
  if (options.acceptOutage === gonePods) return undefined
  const seen = mountsByDriver(context).get(driver) ?? []
  // A single dead mount may be a fault of that volume alone.
  const dead = [seen, seen.filter(({ staged }) => !staged)].find(
    (mounts) => mounts.length > 1 && mounts.every((mount) => mount.dead),
  )
  if (dead === undefined) return undefined
  return {
    ...said('OutageSuspected.driver', {
      count: dead.length,
      mounts: dead.length < seen.length ? "pods' mounts" : 'mounts',
      driver,
    }),
    hint: advice`Bring the backend back and plan again. If it is gone for good: ${volctl('plan', '--accept-outage', `${gonePods}`)}`,
  }
}

interface DriverMount {
  readonly staged: boolean
  readonly dead: boolean
  readonly dev: string
}

/**
 * Every pod's mount of a driver, and every staged mount without a pod's mount on its device. A volume that is staged and published
 * counts as one mount, since a single daemon that died is no outage (O19).
 */
const mountsByDriver = memoize((context: PlanContext): ReadonlyMap<string, readonly DriverMount[]> => {
  const { inputs, staged, classes, ledger } = context
  const byDriver = new Map<string, DriverMount[]>()
  const note = (driver: string | undefined, path: string, top: MountInfo | undefined, isStaged: boolean): void => {
    if (driver === undefined || top === undefined) return
    if (isStaged && byDriver.get(driver)?.some(({ dev }) => dev === top.dev)) return
    append(byDriver, driver, { staged: isStaged, dead: inputs.deadError(path) !== undefined, dev: top.dev })
  }
  for (const { target, stateFile } of classes.all.flatMap(({ uid }) => ledger.podVolumes(uid)))
    note(stateFile?.data?.driver, target, inputs.top(target), false)
  for (const { target, layers, stateFile, driverDir } of staged)
    note(stateFile?.data?.driver ?? driverDir, target, layers.at(-1), true)
  return byDriver
})
