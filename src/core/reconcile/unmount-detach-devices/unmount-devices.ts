/**
 * Phase 3 of the pass: staged file systems that no pod on this node needs any more (R415, R442, C80; O8, O9). The kubelet
 * forgets them once no pod directory refers to them (R517); volctl finds them by the staging directories.
 */

import { memoize } from '../../base/memoize.ts'
import { isGateOn } from '../../facts/actual/kubelet-version.ts'
import { isOld, isSetUp, registeredDriver, type StagedVolume, stages } from '../../facts/actual/staged-volumes.ts'
import { CSI_PLUGIN, escapeQualifiedName } from '../../facts/actual/volume-names.ts'
import { type CsiIdentity, type Identified, identityOf, uniqueNameOf } from '../../facts/sources.ts'
import type { Draft } from '../../plan/draft.ts'
import type { Step, VolumeRef } from '../../plan/plan.ts'
import { rowOf } from '../../plan/subject.ts'
import { strayOf } from '../../rules/rule.ts'
import type { SoughtVolume } from '../../volumes/volume-shapes.ts'
import { type PlanContext, waitForKubelet } from '../context/context.ts'
import { umountSteps } from '../context/layers.ts'
import { unreadWithin } from '../context/unread.ts'
import { type DriverCall, isWithoutDriver } from '../drivers/driver-call.ts'
import { describeCsiVolume, withGivenDevice } from '../identity/volume-facts.ts'
import { type Parts, tearDown } from '../tear-down/tear-down.ts'
import { isUnidentified, type Kept, type StagedParts, showSameDevice, stagedParts } from './staged-parts.ts'

export function unmountDevices(context: PlanContext): void {
  // A staged file system is never one of a raw block volume.
  const unidentified = context.findings.operations.filter(
    (each) => isUnidentified(each) && each.volume?.mode === 'Filesystem',
  )
  for (const staged of context.staged) unmountDevice(context, staged, unidentified)
}

function unmountDevice(context: PlanContext, staged: StagedVolume, unidentified: readonly Draft[]): void {
  const [first, ...others] = stagingsOf(context, staged)
  // One operation undoes both stagings of a volume: to the driver they are one.
  if (first !== staged) return
  const subject = context.ledger.staged(staged)
  const leave = (kept: Kept, volume?: string): void => {
    context.findings.left.push({ path: context.inputs.absolute(staged.target), ...kept, subject, volume })
  }
  // A driver without staging leaves an empty globalmount without a state file (R025, C50).
  if (!isSetUp(staged)) {
    if (isMadeByKubelet(staged) && !staged.hasTarget && staged.content.length === 0)
      removeEmptyDirectory(context, staged, leave)
    else leave({ rule: 'R025', why: 'nothing is staged there' })
    return
  }
  const identified = context.ledger.sources.identify.staged(staged)
  const identity = identityOf(identified)
  const uniqueName = uniqueNameOf(identity)
  const found = whyKept(context, staged, identified, uniqueName) ?? partsToUnstage(context, staged, identity, others)
  if ('why' in found) {
    leave(found, uniqueName)
    return
  }
  const known: KnownStaged = { staged, others, identified, identity, unidentified, ...found }
  const described = describeCsiVolume(context, {
    name: known.after[0]?.volume?.name ?? identity?.handle ?? staged.key,
    mode: 'Filesystem',
    identity,
    uniqueName,
    device: [...staged.layers, ...found.own.mounts].at(-1),
  })
  const volume = withGivenDevice(context, described)
  tearDown(context, { kind: 'UnmountDevice', volume, subject }, () => partsOf(context, known))
}

/** Today's path of a volume's staging first, then that of a kubelet before 1.24 (C11). */
function stagingsOf({ staged: all, ledger }: PlanContext, staged: StagedVolume): readonly StagedVolume[] {
  if (!hasOld(all)) return [staged]
  const alike = ledger.row(rowOf(ledger.staged(staged)) ?? '')?.staged.filter(isSetUp) ?? []
  return alike.includes(staged) ? alike.toSorted((a, b) => Number(isOld(a)) - Number(isOld(b))) : [staged]
}

const hasOld = memoize((all: readonly StagedVolume[]) => all.some(isOld))

function whyKept(
  context: PlanContext,
  staged: StagedVolume,
  identified: Identified,
  uniqueName: string | undefined,
): Kept | undefined {
  const [user] = uniqueName === undefined ? [] : context.uses.of(uniqueName)
  if (user !== undefined) return { rule: 'R817', why: `pod ${user.pod.uid} ${user.how}` }
  if (context.kubelet.state === 'running' && isGateOn(context.inputs.snapshot, 'CSIGlobalMountReconstruction'))
    return { rule: 'N73', why: 'the kubelet finds and unstages what is staged without a pod' }
  // The volume could not be identified: any pod with a volume of this driver may use it.
  if ('unconfirmed' in identified && mayBeUsed(context, staged)) {
    return { rule: 'R025', why: `${identified.unconfirmed}, and pods on this node want volumes of this driver` }
  }
  return undefined
}

interface KnownStaged extends StagedParts {
  readonly staged: StagedVolume
  /** The same volume at the path of before 1.24. */
  readonly others: readonly StagedVolume[]
  readonly identified: Identified
  readonly identity: CsiIdentity | undefined
  /** Operations on mounts that may be of this volume. */
  readonly unidentified: readonly Draft[]
}

function partsToUnstage(
  context: PlanContext,
  { target, layers, foreign, content, stateFile }: StagedVolume,
  identity: CsiIdentity | undefined,
  others: readonly StagedVolume[],
): StagedParts | Kept {
  // Without a staged mount no device shows which sub-paths are of this volume (R418).
  const leaked = layers.length > 0 ? [] : namesOf(context, identity).flatMap((name) => context.findings.leakedOf(name))
  const named = context.findings.ofVolume(uniqueNameOf(identity) ?? '')
  return stagedParts(context, {
    ...{ path: target, identity, stateFile, mounts: foreign, files: content },
    layers: [...layers, ...others.flatMap((each) => each.layers)],
    predecessors: [...named, ...leaked].filter((draft) => !draft.kind.startsWith('Mount')),
  })
}

function partsOf(context: PlanContext, known: KnownStaged): Parts {
  const { staged, others, identified, identity, call, own, held, after } = known
  const target = context.inputs.absolute(staged.target)
  const leaked = after.length === 0
  const steps = [staged, ...others].flatMap((each) => stepsOf(context, each, identity, call))
  return {
    reason: call?.kind === 'absentSinceBoot' ? 'DriverAbsentSinceBoot' : leaked ? 'StagedWithoutPod' : 'LastPodGone',
    rule: leaked ? 'R820' : 'R415',
    message: leaked
      ? `still staged at ${target}, but no pod directory refers to it`
      : 'its last pod on this node is gone',
    steps,
    paths: [target, ...own.stacks.map(({ path }) => path)],
    mounts: [
      ...[staged, ...others].map((each) => ({ path: context.inputs.absolute(each.target), layers: each.layers })),
      ...own.stacks,
    ],
    foreign: [...own.foreign, ...others.flatMap((each) => each.foreign)],
    stray: [{ target: staged.target, content: own.strangers }, ...others]
      .map(({ target, content }) => strayOf(content, { target }))
      .find((each) => each !== undefined),
    identified,
    device: { plugin: CSI_PLUGIN, identity },
    sought: soughtAt(context, staged, identity),
    held,
    unidentified: () => mayBeMounted(context, known),
    call,
    after,
    kubeletWould: leaked
      ? 'never find the staged volume again; the attach/detach controller may detach it while it is staged'
      : undefined,
  }
}

/**
 * S17, S24: a driver may stage without a mount (C20), and then no device shows that a mount that could not be identified is
 * another volume's. It is not this one's if another pod's mount of this volume shows another device, and its directory has
 * another PersistentVolume's name.
 */
function mayBeMounted(context: PlanContext, known: KnownStaged): Draft | undefined {
  const { staged, own, identity, unidentified, after } = known
  if (staged.layers.length + own.mounts.length > 0) return undefined
  const shown = after.filter(({ removes }) => removes.size > 0)
  const alike = new Set(namesOf(context, identity).flatMap((name) => context.findings.unnamed(CSI_PLUGIN, name)))
  return unidentified.find(
    (each) => shown.length === 0 || shown.some((other) => showSameDevice(other, each)) || alike.has(each),
  )
}

/** The directories' names of the volume, by all of its PersistentVolumes. */
function namesOf({ objects }: PlanContext, identity: CsiIdentity | undefined): readonly string[] {
  const volumes = identity === undefined ? [] : objects.persistentVolumesOf(identity)
  return volumes.map(({ metadata }) => escapeQualifiedName(metadata.name))
}

/** Also by the path alone: the driver's directory, and in the old layout the volume's name. */
function soughtAt(context: PlanContext, staged: StagedVolume, identity: CsiIdentity | undefined): SoughtVolume {
  const volumes = identity === undefined ? [] : context.objects.persistentVolumesOf(identity)
  const names = volumes.map(({ metadata }) => metadata.name)
  return isOld(staged) ? { ...identity, names: [...names, staged.key] } : { ...identity, names }
}

/**
 * S12: drivers keep their own directories there; those of the kubelet are named by a hash, or are in the old layout (C10,
 * C11).
 */
function isMadeByKubelet(staged: StagedVolume): boolean {
  return isOld(staged) || /^[0-9a-f]{64}$/.test(staged.key)
}

/**
 * The leftover of an unstage that was killed before its last step (R837): an empty directory that does not show its volume.
 */
function removeEmptyDirectory(context: PlanContext, staged: StagedVolume, leave: (kept: Kept) => void): void {
  const why = context.ledger.wants.stagesIn(staged.dir)
    ? 'the directory is empty, and a pod wants its volume'
    : waitForKubelet(context)?.message
  if (why !== undefined) {
    leave({ rule: 'R837', why })
    return
  }
  const target = context.inputs.absolute(staged.dir)
  const unread = unreadWithin(context.inputs, staged.dir)
  const volume: VolumeRef = { name: staged.key, plugin: CSI_PLUGIN, driver: staged.driverDir, mode: 'Filesystem' }
  const subject = context.ledger.staged(staged)
  tearDown(context, { kind: 'UnmountDevice', volume, subject }, () => ({
    reason: 'StagedWithoutPod',
    rule: 'R837',
    message: `${target} ${unread === undefined ? 'is' : 'may be'} an empty directory, left by an unfinished unstage`,
    steps: [{ op: 'rmdir', target }],
    unread,
  }))
}

function stepsOf(
  context: PlanContext,
  staged: StagedVolume,
  identity: CsiIdentity | undefined,
  call: DriverCall | undefined,
): Step[] {
  const { inputs } = context
  const target = inputs.absolute(staged.target)
  const steps: Step[] = []
  const socket = identity && registeredDriver(context.inputs, identity.driver)
  if (!isWithoutDriver(call) && stages(socket)) steps.push({ op: 'NodeUnstageVolume', target })
  else {
    steps.push(...umountSteps(context, target, staged.layers))
    if (staged.hasTarget) steps.push({ op: 'rmdir', target })
  }
  if (staged.stateFile !== undefined) steps.push({ op: 'unlink', target: inputs.absolute(staged.stateFile.path) })
  steps.push({ op: 'rmdir', target: inputs.absolute(staged.dir) })
  return steps
}

function mayBeUsed(context: PlanContext, staged: StagedVolume): boolean {
  if (staged.layers.length > 0) return false
  return context.desired.volumes.some((volume) => volume.driver === staged.driverDir)
}
