/**
 * What keeps an operation from being carried out, whatever its phase says. Every rule is a function from an operation to an
 * obstacle; they are listed in the order in which they are applied, and the first obstacle is shown.
 */

import { readStateFile } from '../actual/state-file.ts'
import { parentOf } from '../actual/tree.ts'
import { isPlainPath } from '../files/path-name.ts'
import { append } from '../lang/append.ts'
import { volctl } from '../lang/command.ts'
import { defined } from '../lang/defined.ts'
import { onceFor } from '../lang/once-for.ts'
import type { InUse, NodeSnapshot } from '../model/snapshot.ts'
import { Covers } from '../mountinfo/covers.ts'
import { fileSystemText } from '../mountinfo/file-systems.ts'
import type { MountInfo, MountTable } from '../mountinfo/mount-table.ts'
import { whoMounted } from '../mountinfo/mount-words.ts'
import { goesWith } from '../mountinfo/propagation.ts'
import type { Draft, Obstacle, Rule } from '../plan/draft.ts'
import { TAKING_AWAY } from '../plan/kinds.ts'
import type { ExpectedMount } from '../plan/plan.ts'
import { takenBy } from '../plan/taken-by.ts'
import type { PlanContext } from './context/context.ts'
import { outOfReachObstacle, stateFileObstacle } from './context/unread.ts'
import { lazilyDetachedRule, lazyMemoryObstacle } from './obstacles/lazy-detachments.ts'
import { otherVolumeObstacle } from './obstacles/other-volume.ts'

/** Applied to each operation when its phase adds it, so that operations that depend on it know. */
export function ruleOfEach(context: PlanContext): Rule {
  const ofDeadDriver = deadDriverRule(context)
  return (draft) =>
    // The backend of all these volumes is down: nothing else is worth a person's time until it is back.
    ofDeadDriver(draft) ??
    // The phase's own findings depend on such a path.
    oddPathObstacle(draft) ??
    // Before what the phase says of a device that is not the volume's.
    otherVolumeObstacle(context, draft) ??
    coveredObstacle(context, draft) ??
    draft.blocked ??
    outOfReachObstacle(context.inputs, draft) ??
    stateFileObstacle(context.inputs, draft) ??
    // Last: these users were looked for only where nothing else stands in the way.
    inUseObstacle(context.inputs.snapshot, draft)
}

/**
 * Applied once all operations on volumes and attachments are known: a rule about one path concerns all operations of the same
 * volume.
 */
export function ruleOfAll(context: PlanContext, drafts: readonly Draft[]): Rule {
  const lazilyDetached = lazilyDetachedRule(context, drafts)
  return (draft) =>
    // Nothing is safe before the file system is gone, even if everything else could be repaired.
    lazilyDetached(draft) ?? draft.blocked ?? lazyMemoryObstacle(context, draft)
}

/** Paths that contain names, from the API or from below the root directory, that would lead elsewhere. */
function oddPathObstacle({ paths, steps }: Draft): Obstacle | undefined {
  const odd = paths.find(isOdd) ?? steps.find(({ target }) => isOdd(target))?.target
  if (odd === undefined) return undefined
  return {
    code: 'InvalidPath',
    message: `a name in a path of this operation would lead elsewhere: ${JSON.stringify(odd)}`,
    hint: 'Look at the names in the pod, its volumes and its annotations.',
  }
}

function isOdd(path: string): boolean {
  return path.startsWith('/') && !isPlainPath(path)
}

const coversOf = onceFor((mounts: MountTable) => new Covers(mounts))

/** S18: nothing is done to a mount that another one hides; its path leads to the other one. */
function coveredObstacle({ inputs: { mounts } }: PlanContext, { expects = [] }: Draft): Obstacle | undefined {
  for (const { path, layers } of expects) {
    const cover = layers.length === 0 ? undefined : coverOf(mounts, path, layers)
    if (cover === undefined) continue
    return {
      code: 'ForeignMount',
      message: `another mount (${fileSystemText(cover)} on ${cover.mountPoint}) hides ${path}; it cannot be reached`,
      hint: whoMounted(cover.mountPoint),
    }
  }
  return undefined
}

/**
 * Below a shared directory that is bind-mounted on itself, every mount has a hidden copy that goes away with it: such a copy
 * is no obstacle, any other hidden mount is.
 */
function coverOf(mounts: MountTable, path: string, expected: ExpectedMount['layers']): MountInfo | undefined {
  const covers = coversOf(mounts)
  const stacked = mounts.at(path)
  const covered = stacked.filter((mount) => covers.of(mount) !== undefined)
  if (covered.length === 0) return undefined
  const hidden = new Set(covered)
  const reached = stacked.filter((mount) => !hidden.has(mount))
  const stays = covered.find(
    (mount) => expected.some(({ id }) => id === mount.id) && !reached.some((each) => goesWith(mounts, each, mount)),
  )
  return stays && covers.of(stays)
}

/**
 * S29: if all mounts of one driver are dead at once, its backend is down, not the volumes. Holds back that driver's operations.
 * Not for a detach, which calls no driver on this node: the operations that come first are held back.
 */
function deadDriverRule(context: PlanContext): Rule {
  const { options, inputs, classes } = context
  const gonePods = classes.all.filter((pod) => pod.class === 'Gone').length
  if (options.acceptOutage === gonePods || (inputs.snapshot.deadMounts ?? []).length < 2) return () => undefined
  const mounts = mountsByDriver(context)
  return ({ kind, volume }) => {
    const driver = volume?.driver
    return kind === 'DetachVolume' || driver === undefined
      ? undefined
      : allDeadObstacle(driver, mounts.get(driver) ?? [], gonePods)
  }
}

function allDeadObstacle(driver: string, seen: readonly DriverMount[], gonePods: number): Obstacle | undefined {
  const dead = [seen, seen.filter(({ staged }) => !staged)].find(areAllDead)
  if (dead === undefined) return undefined
  return {
    code: 'OutageSuspected',
    message: `all ${dead.length} ${dead.length < seen.length ? "pods' mounts" : 'mounts'} of driver ${driver} are dead at the same time: its backend seems to be down`,
    hint: `Bring the backend back and plan again. If it is gone for good: ${volctl('plan', '--accept-outage', `${gonePods}`)}`,
  }
}

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
function mountsByDriver({ inputs, staged }: PlanContext): ReadonlyMap<string, readonly DriverMount[]> {
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
}

const POD_STATE_FILE = /^pods\/[^/]+\/volumes\/kubernetes\.io~csi\/[^/]+\/vol_data\.json$/

function inUseObstacle({ inUse = NONE }: NodeSnapshot, draft: Draft): Obstacle | undefined {
  if (inUse.length === 0 || !TAKING_AWAY.has(draft.kind)) return undefined
  const found = byOperation(inUse).get(takenBy(draft))
  if (found === undefined) return undefined
  const { message, hint, users } = found
  return { code: KNOWN.get(found.code) ?? 'HeldBy', message, ...defined({ hint, users }) }
}

const NONE: readonly InUse[] = []

/** A word of a newer version still says that it is in use. */
const KNOWN: ReadonlyMap<string, InUse['code']> = new Map(
  (['HeldBy', 'UsersUnknown', 'DeviceUnknown'] as const).map((code) => [code, code]),
)

const byOperation = onceFor(
  (inUse: readonly InUse[]): ReadonlyMap<string, InUse> =>
    new Map(inUse.map((each) => [`${each.kind} ${each.target}`, each])),
)
