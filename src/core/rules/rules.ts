/**
 * What keeps an operation from being carried out, whatever its phase says: the one list of it. The first reason is shown, so
 * what has to be mended first comes first: what makes all else pointless, then what is there at all, what would be lost, which
 * volume it is, who else has it, what has to come before, and last what is looked for only where nothing else stands in the way.
 */
import type { BlockCode } from '../messages/codes.ts'
import type { Draft, Judged } from '../plan/draft.ts'
import { OPERATION_KINDS, type OperationKind, TAKING_AWAY } from '../plan/kinds.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { outOfReachObstacle, stateFileObstacle } from '../reconcile/context/unread.ts'
import { notManaged, sharedAttachment } from './attachments.ts'
import { deadMount, losesData, strayFile, uncoveredFiles, unread } from './content.ts'
import { contentUsed } from './content-users.ts'
import { deadDriver } from './dead-drivers.ts'
import { mayBeUsed, twoWriters } from './devices.ts'
import { foreignMount, hiddenMount } from './foreign-mounts.ts'
import { lazilyDetached, lazyMemoryUnusable } from './lazy-detachments.ts'
import { otherVolume } from './other-volume.ts'
import { mountedOutside, setUpOutside } from './outside-root.ts'
import { inUse, oddName } from './paths.ts'
import { readOnly } from './read-only.ts'
import type { Facts, Judge, Rule } from './rule.ts'
import {
  driverUnavailable,
  identityUnconfirmed,
  mayBeMounted,
  predecessor,
  shownElsewhere,
  stagedByNobody,
} from './volumes.ts'

type Kinds = ReadonlySet<OperationKind>
const ALL: Kinds = new Set(OPERATION_KINDS)
const SETTING_UP: Kinds = new Set<OperationKind>(['MountVolume', 'MapVolume'])
const OF_PODS: Kinds = new Set<OperationKind>(['UnmountVolume', 'UnmapVolume', 'CleanOrphanVolume'])
const OF_DEVICES: Kinds = new Set<OperationKind>(['UnmountDevice', 'UnmapDevice', 'DetachVolume'])
const DETACHING: Kinds = new Set<OperationKind>(['DetachVolume'])
const but = (...kinds: OperationKind[]): Kinds => ALL.difference(new Set(kinds))

function rule(id: string, about: Kinds, judge: Judge, ...codes: BlockCode[]): Rule {
  return { id, about, judge, codes }
}

export const RULES: readonly Rule[] = [
  // Nothing is safe before the file system is gone, even if everything else could be repaired.
  rule('S20', but('RemoveOrphanPodDir'), lazilyDetached, 'DetachedLazily'),
  // The backend of all these volumes is down: nothing else is worth a person's time until it is back. A detach calls no driver here.
  rule('S29', but('DetachVolume'), deadDriver, 'OutageSuspected'),
  // An expansion makes nothing, nor does a detach.
  rule('S26', but('ExpandVolume'), readOnly, 'ReadOnlyFileSystem'),
  rule('S36', ALL, oddName, 'InvalidPath'),
  // What a pod has may always be unmounted.
  rule('S38', SETTING_UP.union(OF_DEVICES), otherVolume, 'OtherVolume'),
  rule('S18', ALL, hiddenMount, 'ForeignMount'),
  rule('S18', ALL, foreignMount, 'ForeignMount', 'FlagWithoutEffect'),

  rule('S20', OF_PODS, deadMount, 'DeadMount'),
  rule('S12', TAKING_AWAY, strayFile, 'UnexpectedFile', 'DataUnderMountPoint'),
  rule('S12', OF_PODS, uncoveredFiles, 'DataUnderMountPoint'),
  rule('S13', OF_PODS, losesData, 'DeletesData'),
  rule('S8', SETTING_UP, setUpOutside, 'HeldBy'),
  rule('S3', ALL, unread, 'NodeUnreadable', 'LinkInPlace'),

  rule('S21', DETACHING, notManaged, 'NotManaged'),
  rule('S17', TAKING_AWAY, identityUnconfirmed, 'IdentityUnconfirmed'),
  rule('S4', OF_DEVICES, mayBeUsed, 'MayBeInUse', 'UnknownPodProcess', 'LinkInPlace'),
  rule('S30', OF_DEVICES, twoWriters, 'TwoWriters'),
  rule('S21', DETACHING, sharedAttachment, 'AttachmentUnclear', 'Forbidden'),
  rule('S8', OF_DEVICES, mountedOutside, 'HeldBy'),
  rule('S21', DETACHING, (_, { attachment }) => attachment?.unread, 'NodeUnreadable', 'LinkInPlace'),
  rule('S24', OF_DEVICES, shownElsewhere, 'HeldBy'),
  rule('S17', OF_DEVICES, mayBeMounted, 'IdentityUnconfirmed'),
  rule('S16', TAKING_AWAY, driverUnavailable, 'DriverUnavailable'),
  rule('S16', new Set(['UnmountDevice']), stagedByNobody, 'ForeignMount'),
  rule('S12', TAKING_AWAY, contentUsed, 'HeldBy'),
  // What the plugins, and the conditions of a mount, say of the volume that is wanted.
  rule('S22', but(...TAKING_AWAY), (_, { setUp }) => setUp?.()),
  rule('S20', TAKING_AWAY, lazyMemoryUnusable, 'LazyMemoryUnusable'),
  // A directory of a pod is kept, and says so, where a volume in it is.
  rule('S26', but('RemoveOrphanPodDir'), predecessor, 'Predecessor'),

  rule('S8', ALL, (draft, _, { inputs }) => outOfReachObstacle(inputs, draft), 'LinkInPlace', 'NodeUnreadable'),
  rule('S14', ALL, (draft, _, { inputs }) => stateFileObstacle(inputs, draft), 'NodeUnreadable'),
  rule('S21', TAKING_AWAY, inUse, 'HeldBy', 'UsersUnknown', 'DeviceUnknown'),
]

/** The operation as it may be added, so that operations that depend on it know. */
export function judged(context: PlanContext, draft: Draft, facts: Facts = {}): Judged {
  for (const { about, judge } of RULES) {
    const blocked = about.has(draft.kind) ? judge(draft, facts, context) : undefined
    if (blocked !== undefined) return { ...draft, blocked } as Judged
  }
  return draft as Judged
}
