import { append } from '../base/append.ts'
import { volctl } from '../base/command.ts'
import { memoize } from '../base/memoize.ts'
import { readStateFile } from '../facts/actual/state-file.ts'
import { parentOf } from '../facts/actual/tree.ts'
import type { MountInfo } from '../linux/mount-table.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import type { Judge } from './rule.ts'

/**
 * S29: if all mounts of one driver are dead at once, its backend is down, not the volumes. Holds back that driver's operations.
 */
export const deadDriver: Judge = ({ volume }, _, context) => {
  const { options, inputs } = context
  const driver = volume?.driver
  if (driver === undefined || (inputs.snapshot.deadMounts ?? []).length < 2) return undefined
  const gonePods = gonePodsOf(context)
  if (options.acceptOutage === gonePods) return undefined
  const seen = mountsByDriver(context).get(driver) ?? []
  const dead = [seen, seen.filter(({ staged }) => !staged)].find(areAllDead)
  if (dead === undefined) return undefined
  return {
    code: 'OutageSuspected',
    message: `all ${dead.length} ${dead.length < seen.length ? "pods' mounts" : 'mounts'} of driver ${driver} are dead at the same time: its backend seems to be down`,
    hint: `Bring the backend back and plan again. If it is gone for good: ${volctl('plan', '--accept-outage', `${gonePods}`)}`,
  }
}

const gonePodsOf = memoize(({ classes }: PlanContext) => classes.all.filter((pod) => pod.class === 'Gone').length)

interface DriverMount {
  readonly staged: boolean
  readonly dead: boolean
  readonly dev: string
}

/** A single dead mount may be a fault of that volume alone. */
function areAllDead(mounts: readonly DriverMount[]): boolean {
  return mounts.length > 1 && mounts.every(({ dead }) => dead)
}

/**
 * Every pod's mount of a driver, and every staged mount without a pod's mount on its device. A volume that is staged and published
 * counts as one mount, since a single daemon that died is no outage (O19).
 */
const mountsByDriver = memoize(({ inputs, staged }: PlanContext): ReadonlyMap<string, readonly DriverMount[]> => {
  const byDriver = new Map<string, DriverMount[]>()
  const note = (driver: string, path: string, { dev }: MountInfo, isStaged: boolean): void => {
    append(byDriver, driver, { staged: isStaged, dead: inputs.deadError(path) !== undefined, dev })
  }
  for (const entry of inputs.snapshot.tree ?? []) {
    if (!POD_STATE_FILE.test(entry.path)) continue
    const target = `${parentOf(entry.path)}/mount`
    const top = inputs.top(target)
    const driver = readStateFile(entry)?.data?.driverName
    if (top !== undefined && driver !== undefined) note(driver, target, top, false)
  }
  for (const { target, layers, stateFile, driverDir } of staged) {
    const top = layers.at(-1)
    const driver = stateFile?.data?.driverName ?? driverDir
    if (top === undefined || byDriver.get(driver)?.some(({ dev }) => dev === top.dev)) continue
    note(driver, target, top, true)
  }
  return byDriver
})

const POD_STATE_FILE = /^pods\/[^/]+\/volumes\/kubernetes\.io~csi\/[^/]+\/vol_data\.json$/
