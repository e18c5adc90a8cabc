/**
 * What keeps an operation from being carried out: the one list of it. The first reason is shown, so what has to be mended first comes
 * first. By the look: what makes all else pointless, then what is there at all, what would be lost, which volume it is, who else has it,
 * what has to come before, and last what is looked for only where nothing else stands in the way. Then what only the machine
 * shows: in a live plan (in-use.ts), right before the operation, or both (S26).
 */

import type { Reason } from '../messages/codes.ts'
import { type Finding, OperationRefused, UsersUnknown } from '../messages/findings.ts'
import type { Draft, Judged, Wait } from '../plan/draft.ts'
import { OPERATION_KINDS, type OperationKind, SETTING_UP, TAKING_AWAY } from '../plan/kinds.ts'
import { attachedElsewhere, noLongerWanted, notAttached, notToDetach, wantedAgain } from './api-now.ts'
import { deadMount, losesData, strayFile, uncoveredFiles, unread } from './content.ts'
import { contentUsed, usedContent } from './content-in-use.ts'
import type { PlanContext } from './context.ts'
import { deadDriver, lazilyDetached, lazyMemoryUnusable } from './dead-volumes.ts'
import { heldDevice, keptAlive, usedDevice, usedDisk } from './device-in-use.ts'
import {
  driverUnavailable,
  identityUnconfirmed,
  mayBeMounted,
  mayBeUsed,
  notManaged,
  predecessor,
  sharedAttachment,
  shownElsewhere,
  stagedByNobody,
  twoWriters,
} from './devices.ts'
import { changedFile, otherNetwork, strangerInside, unexpectedMount } from './expected-mounts.ts'
import { findDevice, unexplainedDevice } from './find-volume-device.ts'
import { foreignMount, hiddenMount, inUse, oddName, readOnly, takenTarget } from './foreign-mounts.ts'
import { builtUpon, lastRecord, newLun, otherDisk, usedLun } from './luns.ts'
import type { MachineFacts, Verdict } from './machine-facts.ts'
import { otherVolume } from './other-volume.ts'
import { aliveOrHeld, busyMount, mountPointElsewhere, otherReader, sharedConnection } from './readers.ts'
import type { Facts, Judge, MachineJudge, Rule, When } from './rule.ts'
import { hiddenFileSystem, mountedOutside, setUpElsewhere, setUpOutside } from './seen-elsewhere.ts'
import { outOfReachObstacle, stateFileObstacle } from './unread.ts'

type Kinds = ReadonlySet<OperationKind>
const only = (...kinds: OperationKind[]): Kinds => new Set(kinds)
const ALL = only(...OPERATION_KINDS)
const BRINGING_UP = ALL.difference(TAKING_AWAY)
const OF_PODS = only('UnmountVolume', 'UnmapVolume', 'CleanOrphanVolume')
const OF_DEVICES = only('UnmountDevice', 'UnmapDevice', 'DetachVolume')
const DETACHING = only('DetachVolume')
const RELEASING = only('UnmapVolume', 'UnmapDevice', 'UnmountDevice')
const BOTH = ['plan', 'apply'] as const
const but = (...kinds: OperationKind[]): Kinds => ALL.difference(only(...kinds))

function rule(id: string, about: Kinds, judge: Judge): Rule {
  return { id, about, judge }
}

function machine(id: string, about: Kinds, asked: readonly When[], judge: MachineJudge): Rule {
  return { id, about, asked, judge }
}

export const RULES: readonly Rule[] = [
  // Nothing is safe before the file system is gone, even if everything else could be repaired.
  rule('S20', but('RemoveOrphanPodDir'), lazilyDetached),
  // The backend of all these volumes is down: nothing else is worth a person's time until it is back. A detach calls no driver here.
  rule('S29', but('DetachVolume'), deadDriver),
  // An expansion makes nothing, nor does a detach.
  rule('S26', but('ExpandVolume'), readOnly),
  rule('S36', ALL, oddName),
  // What a pod has may always be unmounted.
  rule('S38', SETTING_UP.union(OF_DEVICES), otherVolume),
  rule('S18', ALL, hiddenMount),
  rule('S18', ALL, foreignMount),

  rule('S20', OF_PODS, deadMount),
  rule('S12', TAKING_AWAY, strayFile),
  rule('S12', OF_PODS, uncoveredFiles),
  rule('S13', OF_PODS, losesData),
  rule('S8', SETTING_UP, setUpOutside),
  rule('S3', ALL, unread),

  rule('S21', DETACHING, notManaged),
  rule('S17', TAKING_AWAY, identityUnconfirmed),
  rule('S4', OF_DEVICES, mayBeUsed),
  rule('S30', OF_DEVICES, twoWriters),
  rule('S21', DETACHING, sharedAttachment),
  rule('S8', OF_DEVICES, mountedOutside),
  rule('S21', DETACHING, ({ attachment }) => attachment?.unread),
  rule('S24', OF_DEVICES, shownElsewhere),
  rule('S17', OF_DEVICES, mayBeMounted),
  rule('S16', TAKING_AWAY, driverUnavailable),
  rule('S16', only('UnmountDevice'), stagedByNobody),
  rule('S12', TAKING_AWAY, contentUsed),
  // What the plugins, and the conditions of a mount, say of the volume that is wanted.
  rule('S22', BRINGING_UP, ({ setUp }) => setUp?.()),
  rule('S20', TAKING_AWAY, lazyMemoryUnusable),
  // A directory of a pod is kept, and says so, where a volume in it is.
  rule('S26', but('RemoveOrphanPodDir'), predecessor),

  rule('S8', ALL, ({ operation, context }) => outOfReachObstacle(context.inputs, operation)),
  rule('S14', ALL, ({ operation, context }) => stateFileObstacle(context.inputs, operation)),
  rule('S21', TAKING_AWAY, inUse),

  // On the machine. First what touches no path: the network, the pods.
  machine('S6', BRINGING_UP, ['apply'], otherNetwork),
  machine('S22', BRINGING_UP, ['apply', 'again'], noLongerWanted),
  machine('S5', TAKING_AWAY.difference(DETACHING), ['apply', 'again'], wantedAgain),
  machine('S21', DETACHING, ['apply', 'again'], notToDetach),
  // Then the mounts: once they are the expected ones, no path leads below a foreign mount, and files may be looked at.
  machine('S18', but('DetachVolume'), ['apply', 'again'], unexpectedMount),
  machine('S26', but('DetachVolume'), ['apply'], changedFile),
  machine('S12', only('RemoveOrphanPodDir'), ['apply'], strangerInside),
  machine('S19', TAKING_AWAY, ['apply', 'force'], sharedConnection),
  machine('S20', TAKING_AWAY, ['apply', 'force'], aliveOrHeld),
  machine('S12', TAKING_AWAY, ['plan'], busyMount),
  machine('S12', TAKING_AWAY, ['plan'], mountPointElsewhere),
  // What each device is, then who has it.
  machine('S21', TAKING_AWAY, BOTH, findDevice),
  machine('S24', OF_DEVICES.difference(DETACHING), BOTH, otherReader),
  machine('S8', OF_DEVICES, BOTH, setUpElsewhere),
  machine('S21', OF_DEVICES, BOTH, hiddenFileSystem),
  machine('S21', DETACHING, BOTH, unexplainedDevice),
  machine('S21', DETACHING, ['plan'], keptAlive),
  machine('S21', DETACHING, BOTH, usedDisk),
  // Once more: it may have waited for who only passes by.
  machine('S8', DETACHING, BOTH, setUpElsewhere),
  machine('S21', RELEASING, BOTH, usedDevice),
  // The users of content last: that look takes longest, and is to be the freshest when the first step begins.
  machine('S12', TAKING_AWAY.difference(DETACHING), BOTH, usedContent),
  // Asked apart from all others, with each call of a driver.
  machine('S30', BRINGING_UP, ['call'], attachedElsewhere),
  machine('S22', BRINGING_UP, ['call'], notAttached),
  // Which device it is, its step finds out.
  machine('S30', BRINGING_UP, ['device'], heldDevice),
  machine('S22', BRINGING_UP, ['mount'], takenTarget),
  // Asked between the steps of iSCSI and Fibre Channel. Whoever uses another disk of that name is not asked about.
  machine('S26', RELEASING, ['release'], otherDisk),
  machine('S25', RELEASING, ['release'], usedLun),
  // Once more: it may have waited for who only passes by.
  machine('S26', RELEASING, ['release'], otherDisk),
  machine('S14', RELEASING, ['release'], lastRecord),
  machine('S25', RELEASING, ['release'], newLun),
  machine('S25', RELEASING, ['delete'], builtUpon),
]

/**
 * Adds the operation as the rules judge it, so that operations that depend on it know; or what it waits for, by a rule.
 *
 * @param proposed what is said of it has its reason as the code; paths absent: those of its steps
 */
export function propose(
  context: PlanContext,
  proposed: Omit<Draft, 'reason' | 'after' | 'paths'> & Finding<Reason> & Partial<Pick<Draft, 'after' | 'paths'>>,
  given: Facts,
  wait?: Wait,
  rule?: string,
): void {
  const { code: reason, after = [], paths = proposed.steps.map(({ target }) => target), ...of } = proposed
  const operation: Draft = { ...of, reason, paths: [...new Set(paths)], after: [...after] }
  context.findings.add(judged(context, operation, given), wait, rule)
}

function judged(context: PlanContext, operation: Draft, given: Facts): Judged {
  const facts = { ...given, operation, context }
  for (const each of RULES) {
    const blocked = each.asked === undefined && each.about.has(operation.kind) ? each.judge(facts) : undefined
    if (blocked !== undefined) return { ...operation, blocked } as Judged
  }
  return operation as Judged
}

/** The first reason that the machine shows; what could not be seen is one (S3). */
export async function verdictOf(facts: MachineFacts, when: When): Promise<Verdict | undefined> {
  const { kind } = facts.operation
  try {
    for (const each of RULES) {
      if (each.asked === undefined || !each.asked.includes(when) || !each.about.has(kind)) continue
      const verdict = await each.judge(facts)
      if (verdict !== undefined) return verdict
    }
  } catch (error) {
    if (!(error instanceof UsersUnknown)) throw error
    const { message, args, hint } = error
    return { code: 'UsersUnknown', message, args, hint }
  }
  return undefined
}

/** @throws OperationRefused */
export async function requireRules(facts: MachineFacts, when: When): Promise<void> {
  const verdict = await verdictOf(facts, when)
  if (verdict !== undefined) throw new OperationRefused(verdict, verdict)
}
